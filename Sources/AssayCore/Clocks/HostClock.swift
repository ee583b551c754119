#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The time, and the passing of it.
public struct HostClock: Sendable {
    private let reading: @Sendable () -> Instant
    private let counting: @Sendable () -> Duration
    private let waiting: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - now: the time of day.
    ///   - uptime: a monotonic clock with any starting point.
    ///   - sleep: returns after a duration, or throws when the task is cancelled.
    public init(
        now: @escaping @Sendable () -> Instant, uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.reading = now
        self.counting = uptime
        self.waiting = sleep
    }

    /// The time of day.
    public var now: Instant { reading() }

    /// What durations are measured by: it never goes back.
    public var uptime: Duration { counting() }

    /// Waits, and throws `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await waiting(duration)
    }

    /// The machine's own clock.
    public static let system = HostClock(
        now: {
            let time = reading(of: CLOCK_REALTIME)
            return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
        },
        uptime: {
            let time = reading(of: CLOCK_MONOTONIC)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        },
        sleep: { try await Task.sleep(for: $0) })

    private static func reading(of clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}
