internal import AssayEngine
internal import AssayServices
internal import Logging
internal import ServiceLifecycle

/// Does the work that a state store has to do while a server runs.
///
/// It comes first among the services, and so ends last. The store is closed after all of them.
struct StoreService: Service {
    let store: OpenStore
    let logger: Logger

    func run() async {
        if let caution = store.caution { logger.warning("the state store works, but: \(caution)") }
        await cancelWhenGracefulShutdown { await store.run(logger: logger) }
        // A store without work of its own must not end the server.
        try? await gracefulShutdown()
    }
}
