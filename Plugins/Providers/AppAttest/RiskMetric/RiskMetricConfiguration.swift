public import AssayApple
public import AssayCore

/// The section `risk_metric` of `app_attest`: with it, receipts are kept and exchanged for newer ones at Apple's
/// servers.
public struct RiskMetricConfiguration: Decodable, Sendable {
    /// What happens to keys whose metric is unknown.
    public enum Unknown: String, Decodable, Sendable, CaseIterable {
        case allowed
        case refused
    }

    /// The identifier of the team's key for DeviceCheck: ten characters.
    public let keyID: String
    /// Where the `.p8` file of that key is.
    public let privateKey: SecretReference
    /// The form of the header `Authorization`; `bare` when absent.
    public let authorization: AppleAuthorizationForm?
    /// Where receipts of the production environment are exchanged; `https://data.appattest.apple.com` when absent.
    public let baseURL: EndpointURL?
    /// The same for development; `https://data-development.appattest.apple.com` when absent.
    public let developmentBaseURL: EndpointURL?
    /// The age at which a receipt is exchanged again; when absent a day, as soon as Apple allows.
    public let refreshInterval: Duration?
    /// The metric above which evidence is refused; never when absent.
    public let refuseAbove: Int?
    /// `allowed` when absent; of no meaning without `refuse_above`.
    public let unknown: Unknown?

    enum CodingKeys: String, CodingKey {
        case keyID = "key_id"
        case privateKey = "private_key"
        case authorization
        case baseURL = "base_url"
        case developmentBaseURL = "development_base_url"
        case refreshInterval = "refresh_interval"
        case refuseAbove = "refuse_above"
        case unknown
    }
}

extension RiskMetricConfiguration {
    /// Where receipts of each environment are exchanged.
    func endpoints() throws(ConfigurationError) -> [AppAttestEnvironment: EndpointURL] {
        [
            .production: try endpoint(baseURL, "base_url", otherwise: "https://data.appattest.apple.com"),
            .development: try endpoint(
                developmentBaseURL, "development_base_url", otherwise: "https://data-development.appattest.apple.com"),
        ]
    }

    private func endpoint(
        _ base: EndpointURL?, _ key: String, otherwise apple: String
    ) throws(ConfigurationError) -> EndpointURL {
        guard let url = (base ?? EndpointURL(apple))?.appending("/v1/attestationData") else {
            throw ConfigurationError(at: [.key(key)], "expected a URL without a query")
        }
        return url
    }

    /// Apple exchanges a receipt once a day, and answers 404 from 30 days after the last exchange on.
    static let refreshIntervals = Duration.seconds(86_400)...Duration.seconds(29 * 86_400)

    /// The rules that metrics are judged by.
    func rules() throws(ConfigurationError) -> RiskMetricRules {
        if let refuseAbove, refuseAbove < 0 {
            throw ConfigurationError(at: ["refuse_above"], "expected a number of 0 or more")
        }
        if unknown != nil, refuseAbove == nil {
            throw ConfigurationError(at: ["unknown"], "has no effect without `refuse_above`")
        }
        let interval = refreshInterval ?? .zero
        if refreshInterval != nil, !Self.refreshIntervals.contains(interval) {
            throw ConfigurationError(
                at: ["refresh_interval"],
                """
                expected 1d to 29d: Apple exchanges a receipt once a day at most, keeps what it needs for 30 days, and then \
                has no metric
                """)
        }
        return RiskMetricRules(limit: refuseAbove, refusesUnknown: unknown == .refused, refreshInterval: interval)
    }
}

extension RiskMetricConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "key_id": PolicyKey(
            "The identifier of the team's key for DeviceCheck: ten upper-case letters and digits.",
            .pattern("^[A-Z0-9]{10}$"), examples: ["ABC123DEFG"]),
        "private_key": "The location of the `.p8` file of that key: `file:PATH` or `env:NAME`.",
        "authorization": PolicyKey(
            "The form of the token in the header `Authorization`: alone, or after `Bearer`.", standard: "bare"),
        "base_url": PolicyKey(
            "Where receipts of the production environment are exchanged.", standard: "https://data.appattest.apple.com"),
        "development_base_url": PolicyKey(
            "Where receipts of the development environment are exchanged.",
            standard: "https://data-development.appattest.apple.com"),
        "refresh_interval": PolicyKey(
            "The age at which a receipt is exchanged again; when absent a day, as soon as Apple allows.",
            .durations(refreshIntervals), examples: ["7d"]),
        "refuse_above": PolicyKey(
            "The metric above which evidence is refused; never when absent. Apple calls the metric a signal.",
            .range(0...Int.max), examples: [20]),
        "unknown": PolicyKey(
            "What happens to keys whose metric is unknown, with `refuse_above` only.", standard: "allowed"),
    ]
}
