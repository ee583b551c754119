internal import AssayCore
internal import AssayHTTP
internal import AssayKit
internal import Logging
internal import ServiceLifecycle

/// Shows as a metric, and logs when it changes, whether the server is ready, so that nobody has to ask `/readyz` for it.
struct ReadinessService: Service {
    static let metric = Metric.gauge(
        "readiness",
        "What the server's `/readyz` says, asked every ten seconds: 1 for the present state, and 0 for the others.",
        labels: [.init("state", states)])

    private static let ready = "ready"
    private static let degraded = "degraded"
    private static let notReady = "not_ready"
    private static let states = [ready, degraded, notReady]

    let handler: any CallHandler
    let checks: [@Sendable () async -> Readiness]
    let meter: Meter
    let logger: Logger
    var interval = Duration.seconds(10)
    /// Ends when the server listens: a start that fails for an address closes what would be asked.
    var start = AsyncStream<Never> { $0.finish() }

    func run() async {
        await cancelWhenGracefulShutdown {
            for await _ in start {}
            guard !Task.isCancelled else { return }
            // A server is ready when it has begun; what is not is said at once.
            var last = Self.ready
            repeat {
                var parts = [await handler.readiness]
                for check in checks { parts.append(await check()) }
                let state = report(Readiness.combined(parts), after: last)
                last = state
            } while (try? await Task.sleep(for: interval)) != nil
        }
    }

    /// Returns the name of the state.
    private func report(_ readiness: Readiness, after last: String) -> String {
        let (state, reason) =
            switch readiness {
            case .ready: (Self.ready, nil as String?)
            case .degraded(let reason): (Self.degraded, reason)
            case .notReady(let reason): (Self.notReady, reason)
            }
        for name in Self.states { meter.set(name.isExactly(state) ? 1 : 0, of: Self.metric, name) }
        guard !state.isExactly(last) else { return state }
        if let reason {
            logger.warning(
                "the readiness has changed",
                metadata: ["state": "\(state)", "reason": .stringConvertible(LogField(reason))])
        } else {
            logger.notice("the readiness has changed", metadata: ["state": "\(state)"])
        }
        return state
    }
}
