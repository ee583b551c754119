internal import AssayEngine
internal import AssayServices
internal import ServiceLifecycle

/// Passes records on to a sink until the end, and then what still waits.
///
/// It comes before all that makes decisions among the services, and so ends after them.
struct SinkService: Service {
    let queue: SinkQueue

    func run() async {
        await cancelWhenGracefulShutdown { await queue.run() }
        // Also when the group is cancelled, because another service failed.
        try? await gracefulShutdown()
        await queue.close()
    }
}
