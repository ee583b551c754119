public import ServiceLifecycle

/// Asks for a policy bundle at intervals, and has the policies reloaded when it is another one.
public struct PolicyBundlePolling: Service {
    private let source: PolicyBundleSource
    private let reloader: Reloader
    private let observer: @Sendable (_ isReachable: Bool) -> Void

    /// Makes a service of a source and the reloader of its policies.
    ///
    /// - Parameter observer: receives, after each download, whether it succeeded.
    public init(
        _ source: PolicyBundleSource, reloader: Reloader,
        observer: @escaping @Sendable (_ isReachable: Bool) -> Void = { _ in }
    ) {
        self.source = source
        self.reloader = reloader
        self.observer = observer
    }

    /// Asks for the bundle at once, without a reload.
    ///
    /// - Returns: whether it has another content than before.
    @discardableResult public func poll() async -> Bool {
        let isNew = await source.poll()
        observer(source.isReachable)
        return isNew
    }

    /// Runs until graceful shutdown or cancellation.
    public func run() async {
        // The log and the readiness are to say why what was downloaded at the start is not in force.
        if source.isPending { reloader.requestCheck(of: "policies") }
        observer(source.isReachable)
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: source.options.wait())) != nil {
                if await poll() { reloader.requestCheck(of: "policies") }
            }
        }
    }
}
