public import AssayCore
internal import AssayYAML

/// The rate limit of an app's calls: the section `rate_limit` of an app or an OAuth client.
public struct RateLimit: DescribedConfiguration, Sendable, Hashable {
    /// The most calls in each interval, on average, on each server.
    public let requests: Int
    /// The time that `requests` are counted for.
    public let interval: Duration
    /// The most calls at once, after a pause.
    public let burst: Int

    private static let counts = PolicyKey.Rule.range(1...1_000_000)
    private static let defaultInterval = Duration.seconds(60)

    enum CodingKeys: String, CodingKey, CaseIterable {
        case requests, interval, burst
    }

    /// The keys of the section, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "requests": PolicyKey("The most calls in each interval, on average, on each server.", counts, examples: [600])
            .enforced(),
        "interval": PolicyKey(
            "The interval in which `requests` are counted.", .durations(.seconds(1)...(.seconds(86_400))),
            standard: .string(DurationText.text(defaultInterval))
        ).enforced(),
        "burst": PolicyKey("The most calls at once, after a pause. When absent, as many as `requests`.", counts)
            .enforced(),
    ]

    /// Makes a limit; the decoder of policies checks the ranges.
    public init(requests: Int, interval: Duration, burst: Int) {
        self.requests = requests
        self.interval = interval
        self.burst = burst
    }

    /// Decodes the section.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        requests = try values.decode(Int.self, forKey: .requests)
        interval = try values.decodeIfPresent(Duration.self, forKey: .interval) ?? Self.defaultInterval
        burst = try values.decodeIfPresent(Int.self, forKey: .burst) ?? requests
    }
}
