public import AssayCore
public import AssayKit
public import AssayWeb

/// Google's reCAPTCHA v3: a token that a page gets for its user, and a score by which Google judges the user.
public struct RecaptchaV3Provider: AttestationProvider {
    /// Why it refuses.
    public static let reasons = WebTokenReasons(
        prefix: "recaptcha_v3", service: "Google", without: [.expired, .duplicate, .browser, .app])

    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "recaptcha_v3", version: AssayVersion.text,
        summary: "Tokens of Google's reCAPTCHA v3 for pages.", stability: .experimental,
        posture: SecurityPosture(
            proves: """
                A browser loaded reCAPTCHA a short time ago, in a page of one of the app's hosts, for one of the policy's actions, and \
                Google takes its user for a person, by the score that the policy demands. It does not prove that the page is unmodified, \
                or that the token is of the client that sends it.
                """,
            trusts: [
                "Google's server, and the authorities of its certificate", "everybody who has the site's secret",
                "the state store, which remembers used tokens",
            ]),
        reasons: reasons.all,
        facts: [WebTokenFacts.hostname, WebTokenFacts.action, WebTokenFacts.age, WebTokenFacts.score],
        metrics: UpstreamInquiry.metrics,
        limits: WebTokenAppraiser.limits(token: RecaptchaV3TokenRequest.limit),
        execution: .shared, platforms: [WebIdentity.self], answers: [UpstreamInquiry.limitedAnswer(reasons[.limited])])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<RecaptchaV3Provider>] = [
        .exchange("exchangeRecaptchaV3Token") { (provider, request: RecaptchaV3TokenRequest, context) in
            try await provider.appraiser.appraise(request.token, context)
        },
        // The first name of the same.
        .exchange("exchangeRecaptchaToken", versions: [.v1beta]) {
            (provider, request: RecaptchaTokenRequest, context) in
            try await provider.appraiser.appraise(request.token, context)
        },
        .config("recaptchaV3Config", standard: ["tokenTtl": "86400s", "minValidScore": .number(0.5)]) { provider in
            [ReplyField("siteSecretSet", true), ReplyField("minValidScore", .number(provider.minimumScore))]
        },
    ]

    private let minimumScore: Double
    private let appraiser: WebTokenAppraiser

    /// That Google does not accept the secret: `/readyz` says so.
    public var problem: String? { appraiser.problem }

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: RecaptchaV3Configuration, app: AppIdentity, host: PluginHost
    ) throws(ConfigurationError) {
        let identity = try WebIdentity.of(app, neededBy: "reCAPTCHA v3")
        let upstream = RecaptchaV3(
            secret: try host.secrets.requiredText(configuration.siteSecret, at: ["site_secret"]),
            verification: SiteVerification(
                try configuration.settings.common.url(RecaptchaV3.server, "/recaptcha/api/siteverify"),
                codes: RecaptchaV3.codes))
        minimumScore = configuration.settings.score.minimum
        appraiser = WebTokenAppraiser(
            upstream, try configuration.settings.rules(WebTokenNames(hosts: identity.hosts)), Self.reasons, host: host)
    }
}

/// The section `recaptcha_v3` of a policy.
public struct RecaptchaV3Configuration: Decodable, Sendable, DescribedConfiguration {
    /// Where the site's secret is.
    public let siteSecret: SecretReference
    /// The keys that providers with scores have.
    public let settings: WebScoredSettings

    enum CodingKeys: String, CodingKey {
        case siteSecret = "site_secret"
    }

    /// Decodes the section.
    public init(from decoder: any Decoder) throws {
        siteSecret = try decoder.container(keyedBy: CodingKeys.self).decode(SecretReference.self, forKey: .siteSecret)
        settings = try WebScoredSettings(from: decoder)
    }

    /// The keys of the section, with their descriptions.
    public static var keys: [ExactText: PolicyKey] {
        ["site_secret": "The location of the site's secret: `file:PATH` or `env:NAME`."].adding(WebScoredSettings.keys)
    }
}

/// Google's side (reCAPTCHA, "Verifying the user's response").
struct RecaptchaV3: WebTokenUpstream {
    static let server = "https://www.google.com"
    static let codes: [ExactText: SiteVerification.Meaning] = ["timeout-or-duplicate": .refused(.spent)]

    let secret: String
    let verification: SiteVerification

    var url: EndpointURL { verification.url }

    func credential(_ context: ProviderContext, insteadOf refused: String?) -> String { secret }

    func request(_ question: WebTokenQuestion, credential: String) -> OutboundRequest {
        verification.request(question, secret: credential)
    }

    func read(_ response: OutboundResponse) throws -> WebTokenVerdict {
        try verification.read(response) { json, answer in
            // Without one, the secret is of version 2.
            guard let score = try SiteVerification.score(json) else { throw UpstreamFailure(.malformed, "score") }
            answer.score = score
            answer.action = try SiteVerification.text(json, "action")
        }
    }
}

/// What a page sends to exchange a token of reCAPTCHA v3.
struct RecaptchaV3TokenRequest: WebTokenMessage {
    static let (field, limit) = ("recaptchaV3Token", 16 * 1024)
    let token: String
}

/// The same under its first name.
struct RecaptchaTokenRequest: WebTokenMessage {
    static let (field, limit) = ("recaptchaToken", 16 * 1024)
    let token: String
}
