internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayYAML

/// `assay policy show`.
struct PolicyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what holds for an app, and where each value comes from; offline.",
        discussion: """
            Applies profiles, teams, issuers, the project's stage and defaults, and prints the result as YAML that could \
            stand in a policy file. A comment behind each value has its place and the shared part that it is in, or \
            `default`. Defaults of plugins are comments themselves. Secrets are shown as references, and not read. Without an app, \
            the apps are listed.

            With --format json, the output is an array of {"path", "value", "file", "line", "column", "origin"}; `origin` is \
            `stated`, `default`, or the shared part, such as `profile ios`. The list is an array of {"resource", "kind", \
            "project", "stage", "profile", "providers", "file", "line", "column"}.

            Exits with 1 for an app that no policy has, and with 2 for policies with errors.

            Example: \(AssayProgram.current.name) policy show 1:1234567890:ios:321abc456def7890 --policies policies
            """)

    @Argument(help: "The app's ID, the OAuth client's ID, or a full resource name.")
    var app: String?

    @Option(help: ArgumentHelp("The folder of policy files.", valueName: "folder"), completion: .directory)
    var policies = "policies"

    @Flag(help: "Also show the project's services, consumers and verification.")
    var project = false

    @Option(help: "The output format.")
    var format = PolicyCheckFormat.text

    func run() async throws {
        try await CheckedPolicies.with(policies) { checked in
            guard let app else { return try list(checked.policies) }
            guard let found = checked.policies.apps.first(where: { $0.isNamed(app) }),
                let document = checked.registry.document(of: found, in: checked.policies, showsProject: project)
            else {
                let names = checked.policies.apps.map(\.identity.subject)
                let hint = Spelling.hint(for: app, among: names).map { "; \($0)" } ?? ""
                Terminal.report("no policy in \(policies) has the app or OAuth client `\(app)`\(hint)")
                throw ExitCode.refused
            }
            switch format {
            case .text: for line in EffectiveYAML(document).lines { try Terminal.say(line) }
            case .json: try Terminal.say(PrettyJSON.text(of: document.json))
            }
        }
    }

    private func list(_ policies: PolicySet) throws {
        switch format {
        case .text:
            for app in policies.apps {
                let parts: [String?] = [
                    app.profile.map { "profile \($0)" }, app.identity.linkedApp.map { "app \($0)" },
                    app.providers.isEmpty ? "no providers" : app.providers.map(\.name).joined(separator: ", "),
                    app.identity.project.stage.rawValue,
                ]
                try Terminal.say("\(app.identity.resource): \(parts.compactMap(\.self).joined(separator: "; "))")
            }
        case .json: try Terminal.say(PrettyJSON.text(of: .array(policies.apps.map(\.listed))))
        }
    }
}

extension AppPolicy {
    fileprivate var listed: JSON {
        [
            "resource": .string(identity.resource), "kind": identity.kind == .app ? "app" : "oauth_client",
            "project": .string(identity.project.id), "stage": .string(identity.project.stage.rawValue),
            "profile": profile.map { .string($0) } ?? .null, "providers": .array(providers.map { .string($0.name) }),
            "file": .string(location.file), "line": .integer(Int64(location.line)),
            "column": .integer(Int64(location.column)),
        ]
    }
}
