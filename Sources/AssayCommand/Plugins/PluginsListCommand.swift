internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayHTTPClient
internal import AssayKit
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayServer
internal import AssayYAML
internal import Logging

/// `assay plugins list`.
struct PluginsListCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "list", abstract: "List the plugins of this program, with what each declares.",
            discussion: """
                For each plugin: its kind, version, stability and contract; what it proves and what it trusts; its methods, \
                facts and limits; and the number of its reasons, which `\(program) reasons` lists.

                With --policies, the list has the plugins in other processes, too, which plugins.yaml names; and it says who \
                uses a plugin, and whether an instance of it can be made from the policies: `ready`, or the first error with \
                its place. `\(program) policy check` shows all errors.

                With --operations, the health of each plugin in a running server, and the version that it has there.

                Exits with 1 when a policy is wrong, or when a plugin of the running server cannot do its work.
                """)
    }

    @Flag(help: "Print JSON: one object, with everything that each plugin declares.")
    var json = false

    @Option(
        help: ArgumentHelp("The folder of policies whose use of the plugins is shown.", valueName: "folder"),
        completion: .directory)
    var policies: String?

    @Option(
        help: "The server to ask for the health of its plugins: the address of its --operations, such as "
            + "http://127.0.0.1:9090.",
        valueName: "url", reading: .url("https://host:9090"))
    var operations: EndpointURL?

    @OptionGroup
    var authorities: AuthorityOptions

    func validate() throws {
        guard operations != nil || authorities.ca == nil else {
            throw ValidationError("--ca goes with --operations: no other server is asked")
        }
    }

    func run() async throws {
        guard let policies else { return try await list(AssayProgram.current.registry()) }
        do {
            try await PluginProcesses.with(in: PolicyDirectory(policies)) { try await list($0) }
        } catch let problems as Diagnostics {
            for problem in problems.all { Terminal.note(problem.description) }
            throw ExitCode.refused
        }
    }

    private func list(_ registry: Registry) async throws {
        let found = policies.map { read($0, registry) }
        let health = try await askServer()
        let list = PluginList(plugins: registry.plugins, uses: found?.uses, health: health)
        if json {
            try Terminal.say(PrettyJSON.text(of: list.json))
        } else {
            for line in list.lines { try Terminal.say(line) }
        }
        if let policies, let problems = found?.problems {
            let program = AssayProgram.current.name
            Terminal.report(
                "\(policies): \(problems.errorCount + problems.omitted) errors; `\(program) policy check \(policies)` shows all"
            )
            throw ExitCode.refused
        }
        if health?.contains(where: { $0.state != .ready }) == true { throw ExitCode.refused }
    }

    /// The uses of plugins in a folder of policies, and what is wrong in it.
    private func read(_ folder: String, _ registry: Registry) -> (uses: [PluginUse], problems: Diagnostics?) {
        let logger = Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() })
        let policies = PolicyDirectory(folder).read()
        var problems: Diagnostics?
        do throws(Diagnostics) {
            try policies.check(registry, host: PluginHost(store: MemoryStore(clock: .system), logger: logger))
        } catch {
            problems = error
        }
        return (policies.uses(problems: problems), problems)
    }

    /// What the server says of its plugins; nil when none is to be asked.
    private func askServer() async throws -> [PluginHealth]? {
        guard let operations else { return nil }
        do {
            let client = try HTTPClientService(authorities.clientOptions())
            let health: Result<[PluginHealth], any Error>
            do {
                health = .success(try await ServerPlugins.ask(operations, through: client))
            } catch {
                health = .failure(error)
            }
            await client.shutDown()
            return try health.get()
        } catch {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
