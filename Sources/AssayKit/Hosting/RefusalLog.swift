package import AssayCore
package import Logging

/// The log of requests that never become calls: one line for each up to a rate, since anyone can send them.
///
/// The others are summed by their status, and each sum is one line.
package final class RefusalLog: Sendable {
    /// The time between two checks whether a sum is due.
    package static let flushInterval = Duration.seconds(10)

    private let logger: Logger
    private let noun: String
    private let clock: HostClock
    private let events: SampledEvents<UInt>

    /// - Parameter noun: the name of a refused request in messages.
    package init(
        _ logger: Logger, noun: String = "request", limits: RecordLimits = RecordLimits(), clock: HostClock = .system
    ) {
        self.logger = logger
        self.noun = noun
        self.clock = clock
        events = SampledEvents(limits)
    }

    /// - Parameters:
    ///   - status: the status of the response.
    ///   - metadata: the metadata of the line; it is made only if there is a line.
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

    /// Logs the sum when its interval is over.
    ///
    /// - Parameter early: logs it in any case, at the end.
    package func flush(early: Bool = false) {
        guard let sum = events.take(now: clock.now, uptime: clock.uptime, early: early) else { return }
        let counts = sum.counts.map { status, count -> Logger.MetadataValue in "\(status): \(count)" }
        logger.notice(
            "refused \(noun)s summed",
            metadata: ["count": .stringConvertible(sum.total), "since": "\(sum.since)", "statuses": .array(counts)])
    }

    /// Logs sums when they are due, until the task is cancelled.
    package func run() async {
        while (try? await Task.sleep(for: Self.flushInterval)) != nil { flush() }
        flush(early: true)
    }
}
