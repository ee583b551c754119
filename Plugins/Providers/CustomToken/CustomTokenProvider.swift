public import AssayCore
internal import AssayJWT
public import AssayKit

/// Custom tokens: an operator's own server confirms that an app is genuine, by its own checks.
///
/// A custom token is a JWT that a service account signs, as the Admin SDKs' `createToken` makes it, or one of an issuer
/// whose keys are published. It is valid for a few minutes and may be exchanged more than once.
public struct CustomTokenProvider: AttestationProvider {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor(
        name: "custom", contract: 2, version: AssayVersion.text,
        summary: "Tokens that a service account or a trusted issuer signs.", stability: .stable,
        posture: SecurityPosture(
            proves: """
                A service account or an issuer of the policy signed a token for this app within its lifetime. What that party \
                checked before it signed is its own affair.
                """,
            trusts: [
                "the service accounts and issuers that the policy names, and whoever holds their private keys",
                "for an issuer with a key set at a URL: the server of that URL, and the authorities of its certificate",
            ]),
        reasons: CustomTokenReasons.all, facts: [.customTokenIssuer, .customTokenSubject],
        // Calls to other servers fetch the keys of an issuer.
        limits: PluginLimits(
            evidence: 17 * 1024, concurrentCalls: 10_000, outboundCalls: 4, storeWrites: 0, reply: 4096),
        execution: .shared)

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<CustomTokenProvider>] = [
        .exchange("exchangeCustomToken", takesTokenID: true) { provider, request, context in
            try await provider.appraise(request, at: context.now)
        }
    ]

    /// The `aud` of a service account's token, the same for every server (Admin SDKs, `createToken`).
    static let audience = "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"
    /// The Admin SDKs' tokens live for five minutes.
    static let longestLifetime = Duration.seconds(300)

    private let appID: String
    /// The accounts by their addresses.
    private let accounts: [ExactText: ServiceAccount]
    private let issuers: [ExactText: (issuer: TrustedIssuer, appClaim: String)]

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(_ configuration: CustomTokenConfiguration, app: AppIdentity, host: PluginHost)
        throws(ConfigurationError)
    {
        appID = app.subject
        var problems = ConfigurationProblems()
        var accounts: [ExactText: ServiceAccount] = [:]
        for (index, section) in (configuration.serviceAccounts ?? []).enumerated() {
            let path: [ConfigurationError.Component] = ["service_accounts", .index(index)]
            let made = problems.attempt { () throws(ConfigurationError) in
                try ServiceAccount(section, at: path, secrets: host.secrets)
            }
            guard let account = made else { continue }
            if accounts.updateValue(account, forKey: ExactText(account.email)) != nil {
                problems.report(at: path, "the account `\(account.email)` is repeated here")
            }
        }
        var issuers: [ExactText: (issuer: TrustedIssuer, appClaim: String)] = [:]
        for (index, section) in (configuration.issuers ?? []).enumerated() {
            let path: [ConfigurationError.Component] = ["issuers", .index(index)]
            let made = problems.attempt { () throws(ConfigurationError) in
                try TrustedIssuer(section.trusted, at: path, host: host)
            }
            guard let issuer = made else { continue }
            let isKnown =
                issuers.updateValue((issuer, section.appClaim ?? "app_id"), forKey: ExactText(issuer.name)) != nil
            if isKnown || accounts[issuer.name] != nil {
                problems.report(at: path, "the issuer `\(issuer.name)` is repeated here")
            }
        }
        try problems.throwIfAny()
        guard !accounts.isEmpty || !issuers.isEmpty else {
            throw ConfigurationError("expected `service_accounts` or `issuers`: otherwise no token is accepted")
        }
        self.accounts = accounts
        self.issuers = issuers
    }

    func appraise(_ request: ExchangeCustomTokenRequest, at now: Instant) async throws -> Verdict {
        let claims: JWTClaims
        do {
            claims = try await verify(request.customToken, at: now)
        } catch let fault as JWTFault {
            return .refused(CustomTokenReasons.reason(fault), detail: "\(fault)")
        }
        let appClaim = claims.issuer.flatMap { issuers[$0]?.appClaim } ?? "app_id"
        var appraisal = Appraisal(facts: [Fact(.customTokenIssuer, cutting: claims.issuer ?? "")])
        if let subject = claims.subject { appraisal.facts.append(Fact(.customTokenSubject, cutting: subject)) }
        guard claims.text(at: appClaim).isExactly(appID) else {
            return .refused(CustomTokenReasons.app, facts: appraisal.facts)
        }
        // A holder of a custom token may exchange it, and chooses the new token's `jti`.
        let holder = JSON.array([claims.issuer, claims.subject].map { $0.map { .string($0) } ?? .null })
        appraisal.holder = String(decoding: holder.encoded, as: UTF8.self)
        if let ttl = claims.json["ttl"] {
            guard let lifetime = ttl.string.flatMap({ Duration(protoJSON: $0) }), TokenLifetime.isPossible(lifetime)
            else {
                return .refused(
                    CustomTokenReasons.claim,
                    detail: "`ttl` is not a duration of whole seconds from 30 minutes to 7 days",
                    facts: appraisal.facts)
            }
            appraisal.tokenLifetime = lifetime
        }
        return .verified(appraisal)
    }

    private func verify(_ token: String, at now: Instant) async throws -> JWTClaims {
        guard let name = JWTClaims.issuer(ofUnverified: token) else { throw JWTFault.malformed }
        if let account = accounts[name] {
            let verified = try await account.keys.verify(token)
            let expectation = JWTExpectation(
                issuer: account.email, audiences: [ExactText(Self.audience)], longestLifetime: Self.longestLifetime)
            try expectation.judge(verified.claims, now: now)
            guard verified.claims.subject.isExactly(account.email) else { throw JWTFault.claim("sub") }
            guard verified.claims.issued != nil else { throw JWTFault.claim("iat") }
            return verified.claims
        }
        guard let (issuer, _) = issuers[name] else { throw JWTFault.issuer }
        return try await issuer.verify(token, now: now)
    }
}

extension FactName {
    /// The issuer of the custom token.
    public static let customTokenIssuer: FactName = "custom_token_issuer"
    /// The subject of the custom token, according to its issuer.
    public static let customTokenSubject = FactName("custom_token_subject", identifiesAttester: true)
}

/// What a client sends to exchange a custom token.
struct ExchangeCustomTokenRequest: RequestMessage {
    static let shape: MessageShape? = [.required("customToken", .text)]

    let customToken: String

    init(_ fields: RequestFields) throws(InvalidRequest) {
        customToken = try fields.string("customToken")
    }
}
