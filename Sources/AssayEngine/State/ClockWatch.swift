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

    init(_ host: PluginHost) {
        self.host = host
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

    private static func offset(_ now: Instant, _ uptime: Duration) -> Int64 {
        let (seconds, rest) = uptime.components
        return now.milliseconds &- seconds &* 1000 &- rest / 1_000_000_000_000_000
    }
}
