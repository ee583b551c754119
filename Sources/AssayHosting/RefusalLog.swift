package import AssayCore
package import Logging

/// The log of requests that never become calls: one line each up to a rate, since anybody can send them.
///
/// The others are summed by their status, and each sum is one line.
package final class RefusalLog: Sendable {
    /// Between two looks whether a sum is to be told.
    package static let flushInterval = Duration.seconds(10)

    private let logger: Logger
    private let noun: String
    private let clock: HostClock
    private let events: SampledEvents<UInt>

    /// - Parameter noun: what a refused one is called.
    package init(
        _ logger: Logger, noun: String = "request", limits: RecordLimits = RecordLimits(), clock: HostClock = .system
    ) {
        self.logger = logger
        self.noun = noun
        self.clock = clock
        events = SampledEvents(limits)
    }

    /// - Parameters:
    ///   - status: what the client is answered.
    ///   - metadata: what the line says; it is made only where there is one.
    package func refused(
        _ status: UInt, peer: String?, metadata: () -> Logger.Metadata
    ) {
        let uptime = clock.uptime
        if events.admits(.strangers, peer: peer, at: uptime) {
            logger.info("\(noun) refused", metadata: metadata())
        } else {
            events.add(status, now: clock.now, uptime: uptime)
        }
        flush()
    }

    /// Tells the sum when its interval is over.
    ///
    /// - Parameter early: in any case: at the end.
    package func flush(early: Bool = false) {
        guard let sum = events.take(now: clock.now, uptime: clock.uptime, early: early) else { return }
        let counts = sum.counts.map { status, count -> Logger.MetadataValue in "\(status): \(count)" }
        logger.notice(
            "refused \(noun)s summed",
            metadata: ["count": .stringConvertible(sum.total), "since": "\(sum.since)", "statuses": .array(counts)])
    }

    /// Tells sums when their time has come, until the task is cancelled.
    package func run() async {
        while (try? await Task.sleep(for: Self.flushInterval)) != nil { flush() }
        flush(early: true)
    }
}
