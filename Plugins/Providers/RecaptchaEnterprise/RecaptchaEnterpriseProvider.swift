internal import AssayAndroid
internal import AssayApple
public import AssayCore
internal import AssayGoogle
public import AssayKit
public import AssayWeb

/// Google's reCAPTCHA Enterprise: a token that a page or an app gets for its user, and Google's assessment of it.
public struct RecaptchaEnterpriseProvider: AttestationProvider {
    /// Why it refuses.
    public static let reasons = WebTokenReasons(prefix: "recaptcha_enterprise", service: "Google", without: [.spent])

    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "recaptcha_enterprise", version: AssayVersion.text,
        summary: "Tokens of Google's reCAPTCHA Enterprise for pages and apps.", stability: .experimental,
        posture: SecurityPosture(
            proves: """
                reCAPTCHA ran a short time ago, in a page of one of the app's hosts or in the app of its package or bundle identifier, for \
                one of the policy's actions, and Google takes its user for a person, by the score that the policy demands. It does not \
                prove that the page or the app is unmodified, or that the token is of the client that sends it.
                """,
            trusts: [
                "Google's server, and the authorities of its certificate",
                "everybody who has the service account's key or the API key",
                "the state store, which remembers used tokens",
            ]),
        reasons: reasons.all,
        facts: WebTokenFacts.all, metrics: UpstreamInquiry.metrics,
        limits: WebTokenAppraiser.limits(
            token: RecaptchaEnterpriseTokenRequest.limit, calls: RecaptchaEnterprise.callsPerToken),
        execution: .shared, platforms: [WebIdentity.self, AndroidIdentity.self, AppleIdentity.self],
        answers: [UpstreamInquiry.limitedAnswer(reasons[.limited])])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<RecaptchaEnterpriseProvider>] = [
        .exchange("exchangeRecaptchaEnterpriseToken") {
            (provider, request: RecaptchaEnterpriseTokenRequest, context) in
            try await provider.appraiser.appraise(request.token, context)
        },
        .config(
            "recaptchaEnterpriseConfig",
            standard: ["tokenTtl": "3600s", "riskAnalysis": ["minValidScore": .number(0.5)]]
        ) { provider in
            [
                ReplyField("siteKey", .string(provider.configuration.siteKey)),
                ReplyField("riskAnalysis", ["minValidScore": .number(provider.configuration.settings.score.minimum)]),
            ]
        },
    ]

    private let configuration: RecaptchaEnterpriseConfiguration
    private let upstream: RecaptchaEnterprise
    private let appraiser: WebTokenAppraiser

    /// That Google does not accept the key or the account: `/readyz` says so.
    public var problem: String? { upstream.access.problem ?? appraiser.problem }

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: RecaptchaEnterpriseConfiguration, app: AppIdentity, host: PluginHost
    ) throws(ConfigurationError) {
        let names = WebTokenNames(
            hosts: app.platform(WebIdentity.self)?.hosts ?? [],
            androidPackage: app.platform(AndroidIdentity.self)?.package,
            bundleID: app.platform(AppleIdentity.self)?.bundleID)
        guard !names.hosts.isEmpty || !names.androidPackage.isNil || !names.bundleID.isNil else {
            throw ConfigurationError("reCAPTCHA Enterprise needs the app's `web`, `android` or `apple` section")
        }
        upstream = try RecaptchaEnterprise(configuration, app: app, host: host)
        self.configuration = configuration
        appraiser = WebTokenAppraiser(upstream, try configuration.settings.rules(names), Self.reasons, host: host)
    }
}

/// What a client sends to exchange a token of reCAPTCHA Enterprise.
struct RecaptchaEnterpriseTokenRequest: WebTokenMessage {
    static let (field, limit) = ("recaptchaEnterpriseToken", 16 * 1024)
    let token: String
}
