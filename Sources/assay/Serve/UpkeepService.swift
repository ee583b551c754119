internal import AssayEngine
internal import ServiceLifecycle

/// Does what providers have to do between calls, until the server ends.
struct UpkeepService: Service {
    let engine: Engine

    func run() async throws {
        await cancelWhenGracefulShutdown { await engine.runUpkeep() }
    }
}
