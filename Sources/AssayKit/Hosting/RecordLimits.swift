internal import AssayCore

/// How many unverified requests are recorded one by one; the others are summed.
public struct RecordLimits: Sendable, Hashable {
    /// Records per second of requests about nothing known: no known app, no valid credential, no valid form.
    public var strangersPerSecond: Int
    /// Records per second of requests about one known app, or by one known caller, without anything verified.
    ///
    /// All apps together have five times as many.
    public var appPerSecond: Int
    /// Records per second of both kinds for one address (IPv6: one /64).
    public var peerPerSecond: Int
    /// How long requests are summed before the sum is recorded.
    public var interval: Duration

    /// Makes limits in records per second, and the interval that one sum covers.
    public init(
        strangersPerSecond: Int = 10, appPerSecond: Int = 10, peerPerSecond: Int = 5, interval: Duration = .seconds(60)
    ) {
        self.strangersPerSecond = strangersPerSecond
        self.appPerSecond = appPerSecond
        self.peerPerSecond = peerPerSecond
        self.interval = interval
    }

    /// The events that may come at once, as seconds of a rate.
    package static let burstSeconds = 20
    /// How many times the rate of one app all apps together have.
    package static let appFactor = 5
}
