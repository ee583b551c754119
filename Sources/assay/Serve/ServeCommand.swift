internal import ArgumentParser
internal import AssayEngine
internal import AssayHTTP
internal import AssayHTTPClient
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `assay serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve App Check over HTTP.",
        discussion: """
            Prints one line when it listens; everything else goes to standard error. On SIGTERM and SIGINT it finishes \
            the requests that have begun, and ends.
            """)

    @Option(help: "The folder of policy files.")
    var policies = "policies"

    @Option(help: "Where state is kept: sqlite:PATH or memory, which forgets used challenges and counters at the end.")
    var state = "sqlite:assay.sqlite"

    @Option(help: ArgumentHelp("Where to listen; port 0 takes a free one.", valueName: "host:port"))
    var listen = ListenAddress(host: "127.0.0.1", port: 8080)

    @Option(
        help: ArgumentHelp(
            "The folder of the keys, made at the first start. By default beside the state's file, or in "
                + "~/.local/state/assay/keys when the state is in memory.", valueName: "folder"))
    var keys: String?

    @Option(help: "What is logged.")
    var logLevel = LogLevel.info

    func run() async throws {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        ProcessLimits.prepare()
        var logger = Logger(label: "assay")
        logger.logLevel = logLevel.level
        do {
            try await serve(logger)
        } catch let error as Diagnostics {
            Terminal.complain(error.description)
            throw ExitCode.couldNotRun
        } catch let error where !(error is ExitCode) {
            Terminal.complain("assay: \(error)")
            throw ExitCode.couldNotRun
        }
    }

    private func serve(_ logger: Logger) async throws {
        let registry = try Plugins.registry()
        let policies = try PolicyDirectory(policies).load()
        let folder = keys ?? KeyFolder.standard(forState: state)
        let client = try HTTPClientService()
        let host = Host(store: try await registry.openStore(state), http: client, logger: logger)
        let engine = try Engine(registry: registry, policies: policies, keys: .directory(folder), host: host)
        if policies.apps.isEmpty { logger.warning("no policy defines an app: every call is refused") }
        logger.info(
            "policies, keys and state are ready",
            metadata: ["apps": "\(policies.apps.count)", "keys": "\(folder)", "state": "\(state)"])
        let service = try HTTPService(
            handler: engine, configuration: HTTPConfiguration(host: listen.host, port: listen.port), logger: logger
        ) { host, port in
            // A server whose starter has gone away serves all the same.
            try? Terminal.say("assay listens on http://\(host.contains(":") ? "[\(host)]" : host):\(port)")
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // They end in the reverse order: what calls other servers outlives those that it calls for.
                services: [
                    .init(service: client), .init(service: UpkeepService(engine: engine)), .init(service: service),
                ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }
}

/// How much is logged.
enum LogLevel: String, ExpressibleByArgument, CaseIterable, Sendable {
    case debug
    case info
    case notice
    case warning
    case error

    var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
