import AssayEngine
import AssayHTTPServer
import AssayServer
import Logging
import ServiceLifecycle

/// Serves as `assay serve` does, with a service of the program's own, until SIGTERM.
func serveWhole(
    _ plugins: [Plugin], policies: String, in folder: String, at address: ListenerAddress, beside own: any Service,
    _ logger: Logger, onListening: @escaping @Sendable (String) -> Void
) async throws {
    var configuration = ServerConfiguration(plugins: plugins, logger: logger)
    configuration.policies = .folder(policies)
    configuration.state = "sqlite:\(folder)/state.sqlite"
    configuration.audit.paths = ["\(folder)/audit.jsonl"]
    configuration.http.address = address
    configuration.onListening = onListening
    configuration.arrange = { services in
        // Not under systemd.
        services[.systemd] = nil
        services.add(own)
    }
    try await Server(configuration).run()
}
