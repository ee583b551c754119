internal import AssayEngine
internal import AssayServices
internal import ServiceLifecycle

/// Does what providers and consumers have to do between calls, until the server ends.
struct MaintenanceService: Service {
    let engine: Engine
    let metrics: MaintenanceMetrics

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await engine.runMaintenance(MaintenanceOptions { metrics.record($0) })
        }
    }
}
