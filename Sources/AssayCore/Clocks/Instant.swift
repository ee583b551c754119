/// A point in time, in whole milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Arithmetic saturates at the ends of the range, so that a hostile date does not trap and does not wrap around.
public struct Instant: Sendable, Hashable, Comparable {
    /// Milliseconds since the Unix epoch; negative before 1970.
    public let milliseconds: Int64

    /// An instant from milliseconds since the Unix epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// An instant from whole seconds since the Unix epoch, as in a JWT's `exp` (RFC 7519, NumericDate).
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since the Unix epoch, rounded down.
    public var seconds: Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : -((-(milliseconds + 1)) / 1000) - 1
    }

    /// Whether the left instant is earlier.
    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// Adds a duration, rounded towards zero to whole milliseconds; saturates at the ends of the range.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let delta = duration.wholeMilliseconds
        let (sum, overflow) = instant.milliseconds.addingReportingOverflow(delta)
        return Instant(milliseconds: overflow ? (delta < 0 ? .min : .max) : sum)
    }

    /// Subtracts a duration, rounded towards zero to whole milliseconds; saturates at the ends of the range.
    public static func - (instant: Instant, duration: Duration) -> Instant {
        instant + (.zero - duration)
    }

    /// The time that passed from `right` to `left`; negative when `left` is the earlier one.
    public static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
        return .milliseconds(overflow ? (left.milliseconds < 0 ? Int64.min : Int64.max) : difference)
    }
}

extension Duration {
    /// The duration in milliseconds, rounded towards zero, saturating.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds, rounded towards zero.
    public var wholeSeconds: Int64 { components.seconds }
}

extension Instant {
    /// RFC 3339 in UTC, always with three decimals, so that lines align and sort as text.
    package var textWithMilliseconds: String {
        let text = description
        let hasFraction = text.utf8.suffix(5).first == UInt8(ascii: ".")
        return hasFraction ? text : "\(text.dropLast()).000Z"
    }
}
