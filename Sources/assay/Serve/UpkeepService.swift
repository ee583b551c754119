internal import AssayEngine
internal import AssayMetrics
internal import ServiceLifecycle

/// Does what providers have to do between calls, until the server ends.
struct UpkeepService: Service {
    let engine: Engine
    let metrics: UpkeepMetrics

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await engine.runUpkeep(UpkeepOptions { metrics.record($0) })
        }
    }
}
