public import AssayCore
public import AssayKit
public import AssayWeb

/// Cloudflare's Turnstile: a token that a page gets for its user, and that Cloudflare alone can judge.
public struct TurnstileProvider: AttestationProvider {
    /// Why it refuses.
    public static let reasons = WebTokenReasons(
        prefix: "turnstile", service: "Cloudflare", without: [.expired, .duplicate, .browser, .app, .score])

    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "turnstile", version: AssayVersion.text,
        summary: "Tokens of Cloudflare's Turnstile for pages.", stability: .experimental,
        posture: SecurityPosture(
            proves: """
                A browser solved a challenge of Cloudflare a short time ago, in a page of one of the app's hosts, for one of the policy's \
                actions. It does not prove that the page is unmodified, that a person sits before it, or that the token is of the client \
                that sends it.
                """,
            trusts: [
                "Cloudflare's server, and the authorities of its certificate", "everybody who has the widget's secret",
                "the state store, which remembers used tokens",
            ]),
        reasons: reasons.all, facts: [WebTokenFacts.hostname, WebTokenFacts.action, WebTokenFacts.age],
        metrics: UpstreamInquiry.metrics,
        limits: WebTokenAppraiser.limits(token: TurnstileTokenRequest.limit),
        execution: .shared, platforms: [WebIdentity.self], answers: [UpstreamInquiry.limitedAnswer(reasons[.limited])])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<TurnstileProvider>] = [
        .exchange("exchangeTurnstileToken") { (provider, request: TurnstileTokenRequest, context) in
            try await provider.appraiser.appraise(request.token, context)
        }
    ]

    private let appraiser: WebTokenAppraiser

    /// That Cloudflare does not accept the secret: `/readyz` says so.
    public var problem: String? { appraiser.problem }

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: TurnstileConfiguration, app: AppIdentity, host: PluginHost
    ) throws(ConfigurationError) {
        let identity = try WebIdentity.of(app, neededBy: "Turnstile")
        let upstream = Turnstile(
            secret: try host.secrets.requiredText(configuration.secret, at: ["secret"]),
            verification: SiteVerification(
                try configuration.settings.url(Turnstile.server, "/turnstile/v0/siteverify"), codes: Turnstile.codes))
        let rules = try WebTokenRules(
            WebTokenNames(hosts: identity.hosts), actions: configuration.action.accepted, score: nil,
            configuration.settings)
        appraiser = WebTokenAppraiser(upstream, rules, Self.reasons, host: host)
    }
}

/// The section `turnstile` of a policy.
public struct TurnstileConfiguration: Decodable, Sendable, DescribedConfiguration {
    /// Where the widget's secret is.
    public let secret: SecretReference
    /// What pages may make tokens for.
    public let action: WebActionSettings
    /// The keys that all providers for pages have.
    public let settings: WebTokenSettings

    enum CodingKeys: String, CodingKey {
        case secret
    }

    /// Decodes the section.
    public init(from decoder: any Decoder) throws {
        secret = try decoder.container(keyedBy: CodingKeys.self).decode(SecretReference.self, forKey: .secret)
        action = try WebActionSettings(from: decoder)
        settings = try WebTokenSettings(from: decoder)
    }

    /// The keys of the section, with their descriptions.
    public static var keys: [ExactText: PolicyKey] {
        ["secret": "The location of the widget's secret: `file:PATH` or `env:NAME`."]
            .adding(WebActionSettings.keys).adding(WebTokenSettings.keys)
    }
}

/// Cloudflare's side (Turnstile, "Validate the token").
struct Turnstile: WebTokenUpstream {
    static let server = "https://challenges.cloudflare.com"
    static let codes: [ExactText: SiteVerification.Meaning] = [
        "timeout-or-duplicate": .refused(.spent), "internal-error": .tryAgain,
    ]

    let secret: String
    let verification: SiteVerification

    var url: EndpointURL { verification.url }
    var isIdempotent: Bool { true }

    func credential(_ context: ProviderContext, insteadOf refused: String?) -> String { secret }

    func request(_ question: WebTokenQuestion, credential: String) -> OutboundRequest {
        verification.request(
            question, secret: credential, further: [(name: "idempotency_key", value: question.key)])
    }

    func read(_ response: OutboundResponse) throws -> WebTokenVerdict {
        try verification.read(response) { json, answer in
            answer.action = try SiteVerification.text(json, "action")
        }
    }
}

/// What a page sends to exchange a token of Turnstile.
struct TurnstileTokenRequest: WebTokenMessage {
    static let (field, limit) = ("turnstileToken", 2048)
    let token: String
}
