internal import AssayKit
internal import Synchronization

/// A clock that a check moves.
final class SuiteClock: Sendable {
    private static let start = Instant(seconds: 1_800_000_000)

    private let time = Mutex(start)

    var now: Instant { time.withLock { $0 } }

    var host: HostClock {
        HostClock(now: { self.now }, uptime: { self.now - Self.start }, sleep: { self.advance($0) })
    }

    func advance(_ duration: Duration) {
        time.withLock { $0 = $0 + duration }
    }
}
