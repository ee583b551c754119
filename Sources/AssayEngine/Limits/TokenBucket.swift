internal import AssayPolicy
internal import Synchronization

/// Lets the calls for one app through at no more than the rate of its policy.
///
/// A token bucket kept as one point in time: when it would be full again. Whatever the number of calls, that is all that is
/// remembered.
final class TokenBucket: Sendable {
    let limit: RateLimit
    /// What one call costs.
    private let step: Duration
    /// How far ahead of the clock the bucket may be owed.
    private let depth: Duration
    private let fullAt = Mutex(Duration.zero)

    init(_ limit: RateLimit) {
        self.limit = limit
        step = limit.interval / limit.requests
        depth = step * limit.burst
    }

    /// Takes what one call costs.
    ///
    /// - Parameter uptime: a clock that never goes back.
    /// - Returns: nil when the call may pass; otherwise how long it would have to wait, and nothing is taken.
    func take(at uptime: Duration) -> Duration? {
        fullAt.withLock { fullAt in
            let next = max(fullAt, uptime) + step
            guard next - uptime <= depth else { return next - uptime - depth }
            fullAt = next
            return nil
        }
    }
}
