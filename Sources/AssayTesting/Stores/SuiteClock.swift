internal import AssayCore
internal import Synchronization

/// A clock that a check moves.
final class SuiteClock: Sendable {
    private static let start = Instant(seconds: 1_800_000_000)

    private let time = Mutex(start)
    /// How wrong the time of day is.
    private let error = Mutex(Duration.zero)

    var now: Instant { time.withLock { $0 } + error.withLock { $0 } }

    /// Who sleeps moves the clock.
    var host: HostClock {
        HostClock(
            now: { self.now }, uptime: { self.time.withLock { $0 } - Self.start },
            sleep: { duration in
                try Task.checkCancellation()
                self.advance(duration)
                await Task.yield()
            })
    }

    /// Sets the time of day wrong by a duration, which takes no time.
    func misset(by duration: Duration) {
        error.withLock { $0 = duration }
    }

    func advance(_ duration: Duration) {
        time.withLock { $0 = $0 + duration }
    }
}
