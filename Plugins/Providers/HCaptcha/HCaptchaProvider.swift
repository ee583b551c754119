public import AssayCore
public import AssayKit
public import AssayWeb

/// hCaptcha: a token that a page gets for its user, and that hCaptcha alone can judge.
public struct HCaptchaProvider: AttestationProvider {
    /// Why it refuses.
    public static let reasons = WebTokenReasons(
        prefix: "hcaptcha", service: "The server of hCaptcha", without: [.browser, .app, .action])

    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "hcaptcha", version: AssayVersion.text,
        summary: "Tokens of hCaptcha for pages.", stability: .experimental,
        posture: SecurityPosture(
            proves: """
                Somebody solved a challenge of hCaptcha a short time ago, in a page of one of the app's hosts. It does not prove that \
                the page is unmodified, what the token was made for, that a person sits before the page, or that the token is of the \
                client that sends it.
                """,
            trusts: [
                "hCaptcha's server, and the authorities of its certificate", "everybody who has the account's secret",
                "the state store, which remembers used tokens",
            ]),
        reasons: reasons.all,
        facts: [WebTokenFacts.hostname, WebTokenFacts.age, WebTokenFacts.score, WebTokenFacts.risks],
        metrics: UpstreamInquiry.metrics,
        limits: WebTokenAppraiser.limits(token: HCaptchaTokenRequest.limit),
        execution: .shared, platforms: [WebIdentity.self], answers: [UpstreamInquiry.limitedAnswer(reasons[.limited])])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<HCaptchaProvider>] = [
        .exchange("exchangeHcaptchaToken") { (provider, request: HCaptchaTokenRequest, context) in
            try await provider.appraiser.appraise(request.token, context)
        }
    ]

    private let appraiser: WebTokenAppraiser

    /// That hCaptcha does not accept the secret: `/readyz` says so.
    public var problem: String? { appraiser.problem }

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(_ configuration: HCaptchaConfiguration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        let identity = try WebIdentity.of(app, neededBy: "hCaptcha")
        if let key = configuration.siteKey, !(1...128).contains(key.utf8.count) {
            throw ConfigurationError(at: ["site_key"], "expected a site key of 1 to 128 bytes")
        }
        let limit = try WebScoreLimit.checked(configuration.maximumScore, at: ["max_score"]) { .atMost($0) }
        let upstream = HCaptcha(
            secret: try host.secrets.requiredText(configuration.secret, at: ["secret"]),
            siteKey: configuration.siteKey, needsScore: configuration.maximumScore != nil,
            verification: SiteVerification(
                try configuration.settings.url(HCaptcha.server, "/siteverify"), codes: HCaptcha.codes))
        let rules = try WebTokenRules(
            WebTokenNames(hosts: identity.hosts), actions: nil, score: limit, configuration.settings)
        appraiser = WebTokenAppraiser(upstream, rules, Self.reasons, host: host)
    }
}

/// The section `hcaptcha` of a policy.
public struct HCaptchaConfiguration: Decodable, Sendable, DescribedConfiguration {
    /// Where the account's secret is.
    public let secret: SecretReference
    /// The site key that tokens must be of; any of the account when absent.
    public let siteKey: String?
    /// The highest score that passes; 0.5 when absent, for answers that have a score.
    public let maximumScore: Double?
    /// The keys that all providers for pages have.
    public let settings: WebTokenSettings

    enum CodingKeys: String, CodingKey {
        case secret
        case siteKey = "site_key"
        case maximumScore = "max_score"
    }

    /// Decodes the section.
    public init(from decoder: any Decoder) throws {
        let section = try decoder.container(keyedBy: CodingKeys.self)
        secret = try section.decode(SecretReference.self, forKey: .secret)
        siteKey = try section.decodeIfPresent(String.self, forKey: .siteKey)
        maximumScore = try section.decodeIfPresent(Double.self, forKey: .maximumScore)
        settings = try WebTokenSettings(from: decoder)
    }

    /// The keys of the section, with their descriptions.
    public static var keys: [ExactText: PolicyKey] {
        let own: [ExactText: PolicyKey] = [
            "secret": "The location of the account's secret: `file:PATH` or `env:NAME`.",
            "site_key": PolicyKey(
                "The site key that tokens must be of; any of the account when absent.", .length(1...128),
                examples: ["10000000-ffff-ffff-ffff-000000000001"]),
            "max_score": PolicyKey(
                """
                The highest score, from 0.0 to 1.0, that passes; 1.0 is surely a program. Accounts without scores pass if this is absent, \
                and nothing is decided for them otherwise.
                """, .range(0...1), standard: .number(0.5)),
        ]
        return own.adding(WebTokenSettings.keys)
    }
}

/// hCaptcha's side (hCaptcha, "Verify the User Response Server Side").
struct HCaptcha: WebTokenUpstream {
    static let server = "https://api.hcaptcha.com"
    static let codes: [ExactText: SiteVerification.Meaning] = [
        "invalid-or-already-seen-response": .refused(.spent), "already-seen-response": .refused(.duplicate),
        "expired-input-response": .refused(.expired), "sitekey-secret-mismatch": .operatorsFault,
        "not-using-dummy-passcode": .operatorsFault,
    ]

    let secret: String
    let siteKey: String?
    let needsScore: Bool
    let verification: SiteVerification

    var url: EndpointURL { verification.url }

    func credential(_ context: ProviderContext, insteadOf refused: String?) -> String { secret }

    func request(_ question: WebTokenQuestion, credential: String) -> OutboundRequest {
        verification.request(
            question, secret: credential, further: siteKey.map { [(name: "sitekey", value: $0)] } ?? [])
    }

    func read(_ response: OutboundResponse) throws -> WebTokenVerdict {
        try verification.read(response) { json, answer in
            answer.score = try SiteVerification.score(json)
            answer.risks = try SiteVerification.texts(json, "score_reason")
            if needsScore, answer.score == nil {
                throw UpstreamFailure(.requestRefused, "no score, and the policy has `max_score`")
            }
        }
    }
}

/// What a page sends to exchange a token of hCaptcha.
struct HCaptchaTokenRequest: WebTokenMessage {
    static let (field, limit) = ("hcaptchaToken", 16 * 1024)
    let token: String
}
