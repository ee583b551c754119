import AssayEngine
import AssayHTTP
import AssayHTTPClient
import AssayHTTPServer
import AssayKit
import AssayPolicy
import AssayServer
import AssayServices
import Logging
import ServiceLifecycle
import UnixSignals

/// The work between calls: that of plugins, and reading what other servers change in the state.
struct Maintenance: Service {
    let engine: Engine
    func run() async {
        await cancelWhenGracefulShutdown {
            async let refreshed: Void = engine.runRefresh()
            await engine.runMaintenance()
            await refreshed
        }
    }
}

/// Serves an engine over HTTP, with the policies of a signed bundle, until SIGTERM.
func serve(
    _ bundle: PolicyBundleOptions, _ registry: Registry, _ keys: KeyStore, _ store: any StateStore,
    at address: ListenerAddress, _ logger: Logger
) async throws {
    let client = try HTTPClientService(HTTPClientOptions(responseBytes: PolicyBundle.byteLimit + (1 << 20)))
    let source = try PolicyBundleSource(bundle, http: client, logger: logger)
    await source.poll()
    let loaded = source.fingerprint
    let (engine, policies) = try source.start {
        let host = PluginHost(store: store, http: client, logger: logger)
        return try Engine(registry: registry, policies: $0, keys: keys, host: host)
    }
    let reloader = Reloader(
        [.policies(in: source, for: engine, loaded: loaded, present: policies), .keys(in: keys, for: engine)],
        logger: logger)

    var limits = HTTPLimits()
    limits.queueTime = .milliseconds(50)
    let server = try HTTPService(
        handler: engine, pages: HTTPPages(checks: [{ reloader.readiness }, { source.readiness }]),
        configuration: HTTPConfiguration(address: address, limits: limits), logger: logger)
    let group = ServiceGroup(
        services: [
            client, Maintenance(engine: engine), reloader, PolicyBundlePolling(source, reloader: reloader), server,
        ],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await group.run()
}
