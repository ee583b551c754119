internal import ArgumentParser
public import AssayCore
public import AssayEngine
public import AssayKit
public import AssayServer

/// A command-line program over a list of plugins: `serve`, `policy`, `keys`, `methods` and all other subcommands.
///
///     await AssayProgram(name: "my-server", version: "1.0.0", plugins: .standard).main()
public struct AssayProgram: Sendable {
    /// What the program is called, in help texts, messages and log lines.
    public let name: String
    /// The program's own version: the output of `--version`, and the version of the OpenAPI document.
    public let version: String
    /// The providers, consumers and stores that policies and options can name.
    public let plugins: [Plugin]
    /// The subcommands that plugins bring.
    public let commands: [PluginCommand]
    /// Where state is kept when no option says it.
    public let state: String
    /// The methods that the program knows and does not offer: a call gets 501 and not 404.
    public let unoffered: [MethodDescriptor]
    /// Makes the suites that `conformance` runs.
    let suites: @Sendable () throws -> [any ConformanceSuite]

    /// Describes a program; nothing runs before ``main()``.
    ///
    /// Names of metrics (`assay_…`), of header fields (`x-assay-…`) and of the default state file do not depend on the
    /// program's name: a program with more plugins takes the place of another one.
    ///
    /// - Parameters:
    ///   - name: what the program is called.
    ///   - version: the program's own version, in any form.
    ///   - plugins: the plugins, such as `.standard` of the module `AssayStandard`.
    ///   - commands: subcommands of plugins, such as `.standard` of the same module.
    ///   - state: where state is kept without `--state`, as that option takes it.
    ///   - unoffered: methods that get 501; a method with the name or a path of an offered one is left out.
    ///   - suites: makes the suites of the plugins, for the subcommand `conformance`.
    public init(
        name: String, version: String, plugins: [Plugin], commands: [PluginCommand] = [],
        state: String = "sqlite:assay.sqlite", unoffered: [MethodDescriptor] = .appCheck,
        suites: @escaping @Sendable () throws -> [any ConformanceSuite] = { [] }
    ) {
        self.name = name
        self.version = version
        self.plugins = plugins
        self.commands = commands
        self.state = state
        self.unoffered = unoffered
        self.suites = suites
    }

    /// The program whose ``main()`` runs, for subcommands of plugins; outside of it a program without plugins.
    public static var current: AssayProgram { running }

    @TaskLocal private static var running = AssayProgram(name: "assay", version: AssayVersion.text, plugins: [])

    /// The registry of the program's plugins.
    ///
    /// - Throws: `RegistryError` when two plugins claim the same name or the same HTTP rule, or one claims a page of the
    ///   server.
    public func registry() throws(RegistryError) -> Registry {
        try registry(with: [])
    }

    /// The stores that `--state` can name.
    var stores: [StorageDescriptor] { (try? registry())?.storeDescriptors ?? [] }

    /// The registry of the program's plugins and of some in other processes.
    func registry(with others: [Plugin]) throws(RegistryError) -> Registry {
        try ServerRegistry.make(plugins + others, unoffered: unoffered)
    }

    /// Parses the arguments of the process, runs the subcommand that they name, and sets the exit code.
    ///
    /// The exit code is 0 after success, 1 when something was refused or failed, and 2 when the command could not run.
    public func main() async {
        // Before anything secret is read.
        CoreDumps.forbid()
        // A reload or the rotation of a log may come while a server begins: until it listens to signals, they do nothing.
        if CommandLine.arguments.dropFirst().first.isExactly("serve") { EarlySignals.ignore() }
        await Self.$running.withValue(self) { await RootCommand.runProgram() }
    }
}

/// The command that has all others.
struct RootCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current
        let brought = program.commands.filter { $0.place == .top }
        let first = brought.compactMap { command in
            command.invitation.map { "Begin with `\(program.name) \(command.name)`: \($0). Then write" }
        }.first
        return CommandConfiguration(
            commandName: program.name,
            abstract:
                "Self-hosted App Check: verifies that calls come from genuine apps, and issues tokens that say so.",
            discussion: """
                \(first ?? "Write") policies, check them with `\(program.name) policy check DIR`, and serve them with \
                `\(program.name) serve --policies DIR`.

                Exit codes: 0 when all went well, 1 when something was refused or failed, 2 when the command could not run.
                """,
            version: program.version,
            subcommands: [ServeCommand.self, VerifyCommand.self]
                + [
                    PolicyCommand.self, DenyCommand.self, DecisionsCommand.self, AuditCommand.self, KeysCommand.self,
                    StateCommand.self, PluginsCommand.self, ConformanceCommand.self, MethodsCommand.self,
                    ReasonsCommand.self, MetricsCommand.self, CallerTokenCommand.self,
                ] + brought.map(\.type))
    }

    static func runProgram() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as OutputError {
            Terminal.report("cannot write to standard output: \(error)")
            exit(withError: ExitCode.couldNotRun)
        } catch {
            // A wrong command line counts as "could not run": 2, as with other tools, not 64.
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            Terminal.note(fullMessage(for: error))
            exit(withError: ExitCode.couldNotRun)
        }
    }
}
