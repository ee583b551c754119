internal import AssayKit
internal import ServiceLifecycle
internal import UnixSignals

/// Has everything read again on SIGHUP, and only files that are written opened again on SIGUSR1; SIGUSR2 does nothing.
struct ReloadSignal: Service {
    /// Made before the server says that it listens: until then, each of the signals ends a process.
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
                for await signal in signals.cancelOnGracefulShutdown() {
                    switch signal {
                    case .sighup: request.yield()
                    case .sigusr1: reloader.requestReopening()
                    default: break
                    }
                }
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
