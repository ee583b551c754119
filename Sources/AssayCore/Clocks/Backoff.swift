/// Exponential backoff with jitter: the longest wait doubles after each failure, up to a limit.
public struct Backoff: Sendable, Hashable {
    /// The longest wait after the first failure.
    public var first: Duration
    /// The upper limit of all waits.
    public var limit: Duration

    /// Makes a backoff with a longest first wait and an upper limit for all waits.
    public init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
    }

    /// A wait between half of ``longest(after:)`` and the whole of it.
    ///
    /// - `failures`: how many tries have failed one after the other, at least 1.
    public func delay(after failures: Int, randomness: Randomness) -> Duration {
        let half = longest(after: failures) / 2
        return half + randomness.duration(upTo: half)
    }

    /// The longest wait after that many failures.
    public func longest(after failures: Int) -> Duration {
        let limit = max(limit.wholeMilliseconds, 0)
        let first = min(max(first.wholeMilliseconds, 0), limit)
        let (product, overflow) = first.multipliedReportingOverflow(by: 1 << min(max(failures - 1, 0), 40))
        return .milliseconds(overflow ? limit : min(product, limit))
    }
}

extension Randomness {
    /// A duration from zero to a limit, in steps of a millisecond.
    package func duration(upTo limit: Duration) -> Duration {
        let milliseconds = UInt64(max(limit.wholeMilliseconds, 0))
        let random = bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return .milliseconds(Int64(random % (milliseconds + 1)))
    }
}
