internal import AssayEngine
internal import ServiceLifecycle

/// Reads what other servers change in the state, beside the requests, until the server ends.
struct RefreshService: Service {
    let engine: Engine

    func run() async throws {
        await cancelWhenGracefulShutdown { await engine.runRefresh() }
    }
}
