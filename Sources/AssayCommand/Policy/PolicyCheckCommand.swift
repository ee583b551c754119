internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML
internal import Logging

/// `assay policy check`.
struct PolicyCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check policies, and report all errors; offline.",
        discussion: """
            Reads every *.yaml and *.yml file of the folder but for tests (*_test.yaml), and every plugin's sections in them. \
            The processes that plugins.yaml names are started, asked, and ended. Each problem is \
            shown with its file, line and column, the path of the key, and a suggestion; all of them at once, in the \
            order of files and lines, up to 100. Warnings are no reason to refuse a policy. Exits with 0 when there is \
            no error, with 1 otherwise.

            As text, a problem begins with FILE:LINE:COLUMN: as a compiler's does, and `warning:` follows if it is one; \
            problems go to standard error.

            With --format json, standard output has one JSON object a line. A problem has `severity` (error, warning), \
            `file`, `line`, `column`, `end_line`, `end_column`, `path` (of the key), `message`, `hint`, and `related` \
            (other places: `file`, `line`, `column`, `message`), in this order; what there is not is null. Lines and \
            columns count from 1, columns in characters (Unicode scalars), and the end is the first place behind. The last \
            line is {"summary": {"errors", "warnings", "omitted", "apps", "oauth_clients"}}.
            """)

    @Argument(help: "The folder of policy files.")
    var directory = "policies"

    @Flag(
        help:
            "Also refuse what is for development, such as the provider debug, as `\(AssayProgram.current.name) serve --production` does."
    )
    var production = false

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
        let logger = Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() })
        var problems: Diagnostics?
        // What plugins warn of is known only where nothing is wrong.
        var warnings = policies.warnings
        do throws(Diagnostics) {
            warnings = try policies.check(
                registry, host: PluginHost(store: MemoryStore(clock: .system), logger: logger),
                refusesDevelopment: production)
        } catch {
            problems = error
        }
        try report(policies, problems, warnings: warnings, plugins: registry.warnings)
    }

    private func report(
        _ policies: PolicySet, _ problems: Diagnostics?, warnings: Diagnostics?, plugins: [String] = []
    ) throws {
        let report = PolicyReport(
            directory: directory, policies: policies, problems: problems, warnings: warnings, plugins: plugins)
        switch format {
        case .text:
            for text in report.problemTexts { Terminal.complain(text) }
            if problems == nil { try Terminal.say(report.summary) } else { Terminal.complain(report.summary) }
        case .json:
            for line in report.lines { try Terminal.say(String(decoding: line.encoded, as: UTF8.self)) }
        }
        if problems != nil { throw ExitCode.refused }
    }
}

/// How `assay policy check` prints what it finds.
enum PolicyCheckFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text
    case json
}
