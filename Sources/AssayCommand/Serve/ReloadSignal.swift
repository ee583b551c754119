internal import AssayHosting
internal import AssayReload
internal import ServiceLifecycle
internal import UnixSignals

/// Has everything read again on SIGHUP.
struct ReloadSignal: Service {
    /// Made before the server says that it listens: until then, the signal ends a process.
    let signals: UnixSignalsSequence
    let reloader: Reloader
    /// Is asked for its bundle before a reload; nil when the policies are in a folder.
    let bundle: PolicyBundlePolling?
    /// Is told when a reload begins and ends.
    let systemd: SystemdService?

    func run() async {
        // Signals that come during a reload lead to one more.
        let (requests, request) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in signals.cancelOnGracefulShutdown() { request.yield() }
                request.finish()
            }
            for await _ in requests {
                await systemd?.reportReload()
                await bundle?.poll()
                await reloader.reload()
                await systemd?.report(.reloaded(isApplied: reloader.readiness == .ready))
            }
        }
    }
}
