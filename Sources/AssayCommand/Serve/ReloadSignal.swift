internal import AssayReload
internal import ServiceLifecycle
internal import UnixSignals

/// Has everything read again on SIGHUP.
struct ReloadSignal: Service {
    /// Made before the server says that it listens: until then, the signal ends a process.
    let signals: UnixSignalsSequence
    let reloader: Reloader

    func run() async {
        for await _ in signals.cancelOnGracefulShutdown() { reloader.requestReload() }
    }
}
