internal import AssayCore
public import AssayKit
public import AssayYAML

/// The policy of one app or OAuth client.
public struct AppPolicy: Sendable {
    /// The names of the app.
    ///
    /// What platforms know it by is decoded when the plugins are known.
    public internal(set) var identity: AppIdentity
    /// What stands before the project's number in a token's `iss`.
    public let issuerPrefix: String
    /// The other name that the resource goes by, with the project's ID in place of its number; nil when it has one
    /// name.
    public let alias: String?
    /// The providers, in the order of the file.
    public let providers: [ProviderPolicy]
    /// How many calls are answered; nil for all.
    public let rateLimit: RateLimit?
    /// The keys of the app that the loader does not know; none for an OAuth client, for which its app's hold.
    package let sections: [PolicySection]
    /// Whether nothing is wrong with the identity, so that providers can be made for it.
    package internal(set) var isSound: Bool
    /// Where it stands.
    public let location: SourceLocation
}

/// What a policy says of one provider for one app.
public struct ProviderPolicy: Sendable {
    /// The provider's name, which may or may not be that of a registered one.
    public let name: String
    /// The life of session tokens.
    public let tokenLifetime: Duration
    /// The provider's own section.
    public let section: PolicySection
}

/// How many calls for one app are answered: the section `rate_limit` of an app or an OAuth client.
public struct RateLimit: Sendable, Hashable {
    /// The counts that may be written.
    static let counts = 1...1_000_000
    /// The intervals that may be written.
    static let intervals = Duration.seconds(1)...Duration.seconds(86_400)
    static let standardInterval = Duration.seconds(60)

    /// The most calls in each interval, in the long run.
    public let requests: Int
    /// The time that `requests` are counted for.
    public let interval: Duration
    /// The most calls at once, after a pause.
    public let burst: Int

    /// Makes a limit; the policy loader has checked the ranges.
    public init(requests: Int, interval: Duration, burst: Int) {
        self.requests = requests
        self.interval = interval
        self.burst = burst
    }
}
