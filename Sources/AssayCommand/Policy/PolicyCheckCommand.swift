internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayServer
internal import AssayYAML

/// `assay policy check`.
struct PolicyCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check policies, and report all errors; offline.",
        discussion: """
            Reads every *.yaml and *.yml file of the folder except tests (*_test.yaml), and every plugin's sections in them. \
            The processes that plugins.yaml names are started, asked, and ended. Each problem is \
            shown with its file, line and column, the path of the key, and a suggestion; all of them at once, in the \
            order of files and lines, up to 100. Warnings do not make a policy invalid, except with --strict. Exits with 0 when there \
            is no error, with 1 otherwise.

            With --replacing FOLDER, it also warns of each project, app, OAuth client and provider of an app in that folder which these \
            policies do not have: its running clients stop to ask for tokens for a day.

            As text, a problem begins with FILE:LINE:COLUMN: as a compiler's does, and `warning:` follows if it is one; \
            problems go to standard error.

            With --format json, standard output has one JSON object a line. A problem has `severity` (error, warning), \
            `file`, `line`, `column`, `end_line`, `end_column`, `path` (of the key), `message`, `hint`, and `related` \
            (other places: `file`, `line`, `column`, `message`), in this order; a member without a value is null. Lines and \
            columns count from 1, columns in characters (Unicode scalars), and the end is the first place after the value. The last \
            line is {"summary": {"errors", "warnings", "omitted", "apps", "oauth_clients"}}, with `secrets_not_read` for \
            --without-secrets.
            """)

    @Argument(help: "The folder of policy files.", completion: .directory)
    var directory = "policies"

    @Flag(
        help:
            "Also refuse what is for development, such as the provider debug, as `\(AssayProgram.current.name) serve --production` does."
    )
    var production = false

    @Flag(
        help: ArgumentHelp(
            "Do not read secrets and key sets that policies refer to: for machines that do not have them.",
            discussion: "All else is checked; the summary says how many were not read."))
    var withoutSecrets = false

    @Flag(help: "Refuse policies with warnings, too.")
    var strict = false

    @Option(
        help: ArgumentHelp("The folder of the policies that these are to replace.", valueName: "folder"),
        completion: .directory)
    var replacing: String?

    @Option(help: "The output format.")
    var format = PolicyCheckFormat.text

    func run() async throws {
        let directory = PolicyDirectory(directory)
        do {
            try await PluginProcesses.with(in: directory) { try check(directory.read(), $0) }
        } catch let problems as Diagnostics {
            // Without the plugins, the sections of the policies cannot be judged.
            try report(directory.read(), problems, warnings: nil)
        }
    }

    private func check(_ policies: PolicySet, _ registry: Registry) throws {
        let withheld = withoutSecrets ? WithheldSecrets() : nil
        var problems: Diagnostics?
        // What plugins warn of is known only where nothing is wrong.
        var warnings = policies.warnings
        do throws(Diagnostics) {
            warnings = try policies.check(
                registry, host: CheckedPolicies.host(withheld), refusesDevelopment: production)
            let more = policies.servicesWithoutBackend + unusable(registry)
            warnings = Diagnostics((warnings?.all ?? []) + more, omitted: warnings?.omitted ?? 0)
            if let replacing { warnings = losses(of: PolicyDirectory(replacing).read(), policies, registry, warnings) }
        } catch {
            problems = error
        }
        try report(policies, problems, warnings: warnings, plugins: registry.warnings, withheld: withheld?.count)
    }

    /// The plugins that cannot be used although no policy needs them: where one does, that is an error of the policy.
    private func unusable(_ registry: Registry) -> [Diagnostic] {
        registry.plugins.compactMap { plugin in
            guard let reason = plugin.unavailable else { return nil }
            return Diagnostic(
                .warning, file: PolicyDirectory(directory).possiblePluginsPath, location: nil,
                message:
                    "the \(plugin.kind.rawValue) `\(plugin.name)` cannot be used, and no policy names it: \(reason)")
        }
    }

    /// The warnings, with what running clients lose.
    private func losses(
        of old: PolicySet, _ new: PolicySet, _ registry: Registry, _ warnings: Diagnostics?
    ) -> Diagnostics? {
        let losses =
            old.problems == nil
            ? registry.changes(from: old, to: new).losses
            : ["the policies to replace have errors, so it is not known what is gone: check them first"]
        let found = losses.map { Diagnostic(.warning, file: directory, location: nil, message: $0) }
        return Diagnostics((warnings?.all ?? []) + found, omitted: warnings?.omitted ?? 0)
    }

    private func report(
        _ policies: PolicySet, _ problems: Diagnostics?, warnings: Diagnostics?, plugins: [String] = [],
        withheld: Int? = nil
    ) throws {
        let report = PolicyReport(
            directory: directory, policies: policies, problems: problems, warnings: warnings, plugins: plugins,
            withheld: withheld, isStrict: strict)
        switch format {
        case .text:
            for text in report.problemTexts { Terminal.note(text) }
            if !report.isRefused { try Terminal.say(report.summary) } else { Terminal.note(report.summary) }
        case .json:
            for line in report.lines { try Terminal.say(String(decoding: line.encoded, as: UTF8.self)) }
        }
        if report.isRefused { throw ExitCode.refused }
    }
}

/// How `assay policy check` prints what it finds.
enum PolicyCheckFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text
    case json
}
