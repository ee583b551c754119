/// How many calls for one app are answered: the section `rate_limit` of an app or an OAuth client.
public struct RateLimit: Sendable, Hashable {
    /// The counts that may be written.
    static let counts = 1...1_000_000
    /// The intervals that may be written.
    static let intervals = Duration.seconds(1)...Duration.seconds(86_400)
    static let standardInterval = Duration.seconds(60)

    /// The most calls in each interval, in the long run.
    public let requests: Int
    public let interval: Duration
    /// The most calls at once, after a pause.
    public let burst: Int

    public init(requests: Int, interval: Duration, burst: Int) {
        self.requests = requests
        self.interval = interval
        self.burst = burst
    }
}
