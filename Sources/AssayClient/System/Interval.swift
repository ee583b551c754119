/// A length of time, in nanoseconds.
///
/// `Duration` needs iOS 16 and macOS 13. Sums and products stop at the largest value and do not overflow.
public struct Interval: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number of nanoseconds; negative for the past.
    public let nanoseconds: Int64

    /// Makes a length of time.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// No time.
    public static let zero = Interval(nanoseconds: 0)

    /// A number of seconds.
    public static func seconds(_ count: Int64) -> Interval {
        Interval(nanoseconds: saturating(count.multipliedReportingOverflow(by: 1_000_000_000), isNegative: count < 0))
    }

    /// A number of milliseconds.
    public static func milliseconds(_ count: Int64) -> Interval {
        Interval(nanoseconds: saturating(count.multipliedReportingOverflow(by: 1_000_000), isNegative: count < 0))
    }

    /// A number of minutes.
    public static func minutes(_ count: Int64) -> Interval { .seconds(60) * count }

    /// The whole seconds in it, without the rest.
    public var wholeSeconds: Int64 { nanoseconds / 1_000_000_000 }

    /// For people: `90 s`, or `90.5 s`.
    public var description: String {
        let tenths = nanoseconds / 100_000_000 % 10
        return tenths == 0 ? "\(wholeSeconds) s" : "\(wholeSeconds).\(tenths.magnitude) s"
    }

    /// Whether one length is shorter than another.
    public static func < (left: Interval, right: Interval) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The sum.
    public static func + (left: Interval, right: Interval) -> Interval {
        Interval(
            nanoseconds: saturating(
                left.nanoseconds.addingReportingOverflow(right.nanoseconds), isNegative: left < .zero))
    }

    /// The difference.
    public static func - (left: Interval, right: Interval) -> Interval {
        Interval(
            nanoseconds: saturating(
                left.nanoseconds.subtractingReportingOverflow(right.nanoseconds), isNegative: left < .zero))
    }

    /// A multiple.
    public static func * (interval: Interval, factor: Int64) -> Interval {
        Interval(
            nanoseconds: saturating(
                interval.nanoseconds.multipliedReportingOverflow(by: factor),
                isNegative: (interval < .zero) != (factor < 0)))
    }

    /// A part between nothing and the whole; a share outside of 0…1 counts as the nearer of the two.
    func share(_ share: Double) -> Interval {
        guard share > 0 else { return .zero }
        return share < 1 ? Interval(nanoseconds: Int64(Double(nanoseconds / 2) * share) &* 2) : self
    }

    private static func saturating(_ result: (partialValue: Int64, overflow: Bool), isNegative: Bool) -> Int64 {
        result.overflow ? (isNegative ? .min : .max) : result.partialValue
    }
}

/// A moment by the device's monotonic clock, which continues while the device sleeps and starts again when it boots.
///
/// The time of day has no part in it: a user who sets the clock changes no lifetime.
public struct Moment: Sendable, Hashable, Comparable {
    /// The time since the device booted.
    public let uptime: Interval

    /// Makes a moment by the time since the device booted.
    public init(uptime: Interval) {
        self.uptime = uptime
    }

    /// Whether one moment is before another.
    public static func < (left: Moment, right: Moment) -> Bool { left.uptime < right.uptime }
    /// A later moment.
    public static func + (moment: Moment, interval: Interval) -> Moment {
        Moment(uptime: moment.uptime + interval)
    }
    /// An earlier moment.
    public static func - (moment: Moment, interval: Interval) -> Moment {
        Moment(uptime: moment.uptime - interval)
    }
    /// The time from one moment to another.
    public static func - (left: Moment, right: Moment) -> Interval { left.uptime - right.uptime }
}
