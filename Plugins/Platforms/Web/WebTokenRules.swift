public import AssayCore
internal import AssayKit

/// The keys that the sections of providers for pages have in common.
public struct WebTokenSettings: Decodable, Sendable, DescribedConfiguration {
    /// How long ago a token may have been made; five minutes when absent.
    public let maximumAge: Duration?
    /// Whether the service learns the client's address; it does not when absent.
    public let sendsAddress: Bool?
    /// The URL that is called instead of the service's server.
    public let baseURL: EndpointURL?

    enum CodingKeys: String, CodingKey {
        case maximumAge = "max_age"
        case sendsAddress = "send_address"
        case baseURL = "base_url"
    }

    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "max_age": PolicyKey(
            "How long ago a token may have been made. The service itself ends tokens after some minutes.",
            .durations(WebTokenRules.ages), standard: "5m", examples: ["5m"]),
        "send_address": PolicyKey(
            "Whether the service learns the client's address, which it compares with the one that solved the challenge.",
            standard: false),
        "base_url": "The URL that is called instead of the service's server; the path of its method is added to it.",
    ]

    /// The server that is called.
    ///
    /// - `path`: what is called there.
    /// - Throws: the error in `base_url`.
    public func url(_ server: String, _ path: String) throws(ConfigurationError) -> EndpointURL {
        guard let url = (baseURL ?? EndpointURL(server))?.appending(path) else {
            throw ConfigurationError(at: ["base_url"], "expected a URL without a query")
        }
        return url
    }
}

/// The key by which a section names what pages may make tokens for.
public struct WebActionSettings: Decodable, Sendable, DescribedConfiguration {
    /// What a page may have made a token for; `fire_app_check` when absent.
    public let actions: [String]?

    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "actions": PolicyKey(
            "What a page may have made a token for. An empty text stands for a page that does not say.", .notEmpty,
            standard: ["fire_app_check"])
    ]

    /// What a page may have made a token for.
    public var accepted: [String] { actions ?? ["fire_app_check"] }
}

/// The key by which a section says which scores pass.
public struct WebScoreSettings: Decodable, Sendable, DescribedConfiguration {
    /// The lowest score that passes; 0.5 when absent.
    public let minimumScore: Double?

    enum CodingKeys: String, CodingKey {
        case minimumScore = "min_score"
    }

    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "min_score": PolicyKey(
            "The lowest score, from 0.0 to 1.0, that passes; 1.0 is surely a person.", .range(0...1),
            standard: .number(0.5))
    ]

    /// The lowest score that passes.
    public var minimum: Double { minimumScore ?? WebScoreLimit.standard }

    /// Which scores pass.
    ///
    /// - Throws: that the number is not from 0 to 1.
    public func limit() throws(ConfigurationError) -> WebScoreLimit {
        try .checked(minimumScore, at: ["min_score"]) { .atLeast($0) }
    }
}

/// The keys of a section whose service knows actions and scores.
public struct WebScoredSettings: Decodable, Sendable, DescribedConfiguration {
    /// What pages may make tokens for.
    public let action: WebActionSettings
    /// Which scores pass.
    public let score: WebScoreSettings
    /// The keys that all providers for pages have.
    public let common: WebTokenSettings

    /// Decodes the keys.
    public init(from decoder: any Decoder) throws {
        action = try WebActionSettings(from: decoder)
        score = try WebScoreSettings(from: decoder)
        common = try WebTokenSettings(from: decoder)
    }

    /// The keys of this part of a policy, with their descriptions.
    public static let keys = WebActionSettings.keys.adding(WebScoreSettings.keys).adding(WebTokenSettings.keys)

    /// The rules for an app with these names.
    ///
    /// - Throws: the error at its key.
    public func rules(_ names: WebTokenNames) throws(ConfigurationError) -> WebTokenRules {
        try WebTokenRules(names, actions: action.accepted, score: score.limit(), common)
    }
}

extension [ExactText: PolicyKey] {
    /// These keys and others, which have other names.
    public func adding(_ others: [ExactText: PolicyKey]) -> [ExactText: PolicyKey] {
        merging(others) { first, _ in first }
    }
}

/// The names that the tokens of an app have.
public struct WebTokenNames: Sendable {
    /// The hosts of the app's pages.
    @Exact public var hosts: [String]
    /// The package of the app for Android.
    @Exact public var androidPackage: String?
    /// The bundle identifier of the app for Apple's systems.
    @Exact public var bundleID: String?

    /// Names; none when absent.
    public init(hosts: [String] = [], androidPackage: String? = nil, bundleID: String? = nil) {
        self.hosts = hosts
        self.androidPackage = androidPackage
        self.bundleID = bundleID
    }
}

/// Which scores pass.
public enum WebScoreLimit: Sendable, Hashable {
    /// 1.0 is surely a person: this score and higher ones.
    case atLeast(Double)
    /// 1.0 is surely a program: this score and lower ones.
    case atMost(Double)

    /// The limit that counts where a policy names none.
    public static let standard = 0.5

    /// The limit of a policy, or the standard one.
    ///
    /// - `path`: the place of the number in the section.
    /// - Throws: that it is not from 0 to 1.
    public static func checked(
        _ number: Double?, at path: [ConfigurationError.Component], _ make: (Double) -> WebScoreLimit
    ) throws(ConfigurationError) -> WebScoreLimit {
        let number = number ?? standard
        guard (0...1).contains(number) else { throw ConfigurationError(at: path, "expected a number from 0.0 to 1.0") }
        return make(number)
    }

    func admits(_ score: Double) -> Bool {
        switch self {
        case .atLeast(let limit): score >= limit
        case .atMost(let limit): score <= limit
        }
    }

    var words: String {
        switch self {
        case .atLeast(let limit): "at least \(limit)"
        case .atMost(let limit): "at most \(limit)"
        }
    }
}

/// What a policy demands of what a service says.
public struct WebTokenRules: Sendable {
    /// How long ago a token may have been made.
    public static let ages: ClosedRange<Duration> = .seconds(30) ... .seconds(600)
    /// How far the clock of a service may be ahead.
    static let skew = Duration.seconds(60)

    private let names: WebTokenNames
    /// Nil where the service knows no actions.
    private let actions: [String]?
    private let score: WebScoreLimit?
    private let maximumAge: Duration
    let sendsAddress: Bool

    /// Makes rules.
    ///
    /// - Parameters:
    ///   - actions: what pages may make tokens for; nil where the service knows no actions.
    ///   - score: which scores pass; nil where the service gives none.
    /// - Throws: the error at `max_age` or `actions`.
    public init(
        _ names: WebTokenNames, actions: [String]?, score: WebScoreLimit?, _ settings: WebTokenSettings
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        let age = settings.maximumAge ?? .seconds(300)
        if !Self.ages.contains(age) { problems.report(at: ["max_age"], "expected a duration from 30s to 10m") }
        if let actions, !(1...32).contains(actions.count) || !actions.allSatisfy({ $0.utf8.count <= 1024 }) {
            problems.report(at: ["actions"], "expected 1 to 32 actions of at most 1024 bytes")
        }
        try problems.throwIfAny()
        self.names = names
        self.actions = actions
        self.score = score
        maximumAge = age
        sendsAddress = settings.sendsAddress ?? false
    }

    /// What is wrong with a genuine token, and both values; nil for nothing.
    func problem(of answer: WebTokenAnswer, at now: Instant) -> (WebTokenProblem, String)? {
        if let problem = origin(answer) { return problem }
        if let actions, !actions.contains(exactly: answer.action ?? "") {
            let expected = actions.map { "'\($0)'" }.joined(separator: " or ")
            return (.action, "\(WebText.quoted(answer.action)), expected \(expected)")
        }
        if answer.made > now + Self.skew { return (.inFuture, "made at \(answer.made), and it is \(now)") }
        if now - answer.made > maximumAge {
            return (.tooOld, "made at \(answer.made), and it is \(now): at most \(maximumAge.wholeSeconds) s")
        }
        if let score, let found = answer.score, !score.admits(found) {
            return (.score, "\(found), expected \(score.words)")
        }
        return nil
    }

    /// What is wrong with where a token comes from: all names that it has must be the app's, and it must have one.
    private func origin(_ answer: WebTokenAnswer) -> (WebTokenProblem, String)? {
        for (found, expected) in [
            (answer.androidPackage, names.androidPackage), (answer.bundleID, names.bundleID),
        ] {
            if let found, !found.isExactly(expected ?? "") {
                return (.app, "\(WebText.quoted(found)), expected \(WebText.quoted(expected))")
            }
        }
        let isApp = !answer.androidPackage.isNil || !answer.bundleID.isNil
        if answer.hostname.isNil, isApp { return nil }
        guard let hostname = answer.hostname, names.hosts.contains(exactly: hostname) else {
            let expected = names.hosts.prefix(4).map { "'\($0)'" }.joined(separator: " or ")
            return (.host, "\(WebText.quoted(answer.hostname)), expected \(expected.isEmpty ? "an app" : expected)")
        }
        return nil
    }
}
