internal import AssayEngine
internal import AssayServices
internal import Logging
internal import ServiceLifecycle

/// Takes up changes of keys in a vault until the server ends, and closes the vault then.
struct KeyService: Service {
    let keys: OpenKeys
    let engine: Engine
    let logger: Logger

    func run() async {
        await cancelWhenGracefulShutdown { await keys.run(for: engine, logger: logger) }
        // Keys in a folder need no work, which must not end the server.
        try? await gracefulShutdown()
        await keys.close()
    }
}
