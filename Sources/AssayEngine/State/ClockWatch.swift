internal import AssayCore
internal import AssayKit
internal import Logging
internal import Synchronization

/// Detects jumps of the time of day: everything that expires depends on it.
final class ClockWatch: Sendable {
    static let jumps = Metric.counter(
        "clock_jumps_total", "How often the time of day jumped by more than ten seconds between two decisions.",
        labels: [.init("direction", ["forward", "back"])])
    /// Smaller jumps are normal corrections of a clock.
    static let tolerance = Duration.seconds(10)

    private let host: PluginHost
    /// The time of day minus the uptime, in milliseconds.
    private let offset: Atomic<Int64>
    private let settled: SettledTime
    /// The uptime at which the store last showed that entries are missing.
    private let missing = Mutex<Duration?>(nil)
    /// How long that is shown.
    private static let reminder = Duration.seconds(600)

    init(_ host: PluginHost) {
        self.host = host
        settled = SettledTime(host.clock)
        offset = Atomic(Self.offset(host.clock.now, host.clock.uptime))
        for direction in Self.jumps.labels.flatMap(\.values) { host.meter.add(0, to: Self.jumps, direction) }
    }

    /// Compares a reading of both clocks with the previous one.
    func observe(_ now: Instant, uptime: Duration) {
        let present = Self.offset(now, uptime)
        let before = offset.exchange(present, ordering: .relaxed)
        let change = Duration.milliseconds(present - before)
        guard change > Self.tolerance || change < .zero - Self.tolerance else { return }
        let isForward = change > .zero
        host.meter.add(to: Self.jumps, isForward ? "forward" : "back")
        host.logger.warning(
            "the time of day jumped \(isForward ? "forward" : "back"), or the machine slept",
            metadata: ["seconds": "\(change.components.seconds)", "now": "\(now)"])
    }

    /// Notes that the store has removed entries that end later than a new one: it cannot tell whether that was used.
    func noteMissing() {
        let uptime = host.clock.uptime
        let last = missing.withLock { last in
            defer { last = uptime }
            return last
        }
        if last.map({ uptime - $0 >= Self.reminder }) ?? true {
            host.logger.error("\(Self.missingEntries)")
        }
    }

    private static let missingEntries: StaticString =
        "a clock was ahead for more than ten minutes: the state has removed entries that end later, and cannot tell what was used; see 'The clock was wrong' in the documentation"

    /// Why decisions may be wrong or impossible because of a clock, for operators; nil when nothing is known.
    var caution: String? {
        let lead = settled.lead
        if lead > StateHistory.tolerance {
            return
                "the time of day jumped forward by \(lead.wholeSeconds) seconds within the last ten minutes: if it is wrong, "
                + "correct it now; entries of the state are not removed until it has lasted for ten minutes"
        }
        let uptime = host.clock.uptime
        let isMissing = missing.withLock { $0.map { uptime - $0 < Self.reminder } ?? false }
        return isMissing ? "\(Self.missingEntries)" : nil
    }

    private static func offset(_ now: Instant, _ uptime: Duration) -> Int64 {
        let (seconds, rest) = uptime.components
        return now.milliseconds &- seconds &* 1000 &- rest / 1_000_000_000_000_000
    }
}
