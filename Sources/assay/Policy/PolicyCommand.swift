internal import ArgumentParser
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML
internal import Logging

/// `assay policy`.
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Work with policy files.", subcommands: [PolicyCheckCommand.self])
}

/// `assay policy check`.
struct PolicyCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say whether policies are good, and what is wrong with them; offline.",
        discussion: """
            Reads every *.yaml file of the folder, and every plugin's sections in them. Each problem is shown with its \
            file, line and column, the path of the key, and what was perhaps meant. Exits with 0 when there is none, \
            with 1 otherwise.
            """)

    @Argument(help: "The folder of policy files.")
    var directory = "policies"

    func run() throws {
        let logger = Logger(label: "assay", factory: { _ in SwiftLogNoOpLogHandler() })
        do {
            let registry = try Plugins.registry()
            let policies = try PolicyDirectory(directory).load()
            try policies.check(registry, host: Host(store: MemoryStore(clock: .system), logger: logger))
            let clients = policies.apps.count { $0.identity.kind == .oauthClient }
            let apps = policies.apps.count - clients
            try Terminal.say("\(directory): \(apps) apps and \(clients) OAuth clients, all good")
            if policies.apps.isEmpty {
                Terminal.complain("\(directory): no app is defined, so that every call would be refused")
            }
        } catch let problems as Diagnostics {
            Terminal.complain(problems.description)
            throw ExitCode.refused
        }
    }
}
