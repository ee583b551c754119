public import AssayCore
public import AssayKit
internal import AssayVerifier

/// Custom tokens: an operator's own server confirms that an app is genuine, by its own checks.
///
/// A custom token is a JWT that a service account signs, as the Admin SDKs' `createToken` makes it, or one of an issuer
/// whose keys are published. It is valid for a few minutes and may be exchanged more than once.
public struct CustomTokenProvider: AttestationProvider {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "custom", version: AssayVersion.text,
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
        // The host fetches the keys of issuers, for all that trust them.
        limits: PluginLimits(
            evidence: 17 * 1024, concurrentCalls: 10_000, outboundCalls: 0, storeWrites: 0, reply: 4096),
        execution: .shared)

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<CustomTokenProvider>] = [
        .exchange("exchangeCustomToken", takesTokenID: true) { provider, request, context in
            try await provider.appraise(request, at: context.now)
        }
    ]

    private let appID: String
    /// Whose tokens are accepted, by their `iss`.
    private let signers: [ExactText: CustomTokenSigner]

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(_ configuration: CustomTokenConfiguration, app: AppIdentity, host: PluginHost)
        throws(ConfigurationError)
    {
        appID = app.subject
        var problems = ConfigurationProblems()
        var signers: [ExactText: CustomTokenSigner] = [:]
        for (index, section) in (configuration.serviceAccounts ?? []).enumerated() {
            let path: [ConfigurationError.Component] = ["service_accounts", .index(index)]
            let made = problems.attempt { () throws(ConfigurationError) in
                try ServiceAccount(section, at: path, secrets: host.secrets)
            }
            guard let account = made else { continue }
            if signers.updateValue(.account(account), forKey: ExactText(account.email)) != nil {
                problems.report(at: path, "the account `\(account.email)` is repeated here")
            }
        }
        for (index, section) in (configuration.issuers ?? []).enumerated() {
            let path: [ConfigurationError.Component] = ["issuers", .index(index)]
            let made = problems.attempt { () throws(ConfigurationError) in
                try TrustedIssuer(section.trusted, at: path, host: host)
            }
            guard let issuer = made else { continue }
            let signer = CustomTokenSigner.issuer(issuer, appClaim: section.appClaim ?? "app_id")
            if signers.updateValue(signer, forKey: ExactText(issuer.name)) != nil {
                problems.report(at: path, "the issuer `\(issuer.name)` is repeated here")
            }
        }
        try problems.throwIfAny()
        guard !signers.isEmpty else {
            throw ConfigurationError("expected `service_accounts` or `issuers`: otherwise no token is accepted")
        }
        self.signers = signers
    }

    func appraise(_ request: ExchangeCustomTokenRequest, at now: Instant) async throws -> Verdict {
        let token: UnverifiedJWT
        do throws(JWTFault) {
            token = try UnverifiedJWT(request.customToken)
        } catch {
            let problem = error == .algorithm ? "its algorithm is not supported" : "it is not a JWT of the right claims"
            return .refused(CustomTokenReasons.reason(error), detail: problem)
        }
        guard let name = token.claims.issuer else {
            return .refused(CustomTokenReasons.malformed, detail: "its 'iss' is missing")
        }
        guard let signer = signers[name] else {
            let expected = signers.keys.map(\.string)
            return .refused(CustomTokenReasons.issuer, detail: token.explanationOfIssuer(expected: expected))
        }
        let claims: JWTClaims
        do {
            claims = try await signer.verify(token, now: now)
        } catch let fault as JWTFault {
            return .refused(
                CustomTokenReasons.reason(fault), detail: signer.explanation(of: fault, in: token, now: now))
        }
        var appraisal = Appraisal(facts: [Fact(.customTokenIssuer, cutting: name)])
        if let subject = claims.subject { appraisal.facts.append(Fact(.customTokenSubject, cutting: subject)) }
        guard let named = claims.text(at: signer.appClaim), named.isExactly(appID) else {
            let found = claims.text(at: signer.appClaim).map { "'\(UnverifiedJWT.shortened($0))'" } ?? "missing"
            return .refused(
                CustomTokenReasons.app, detail: "its '\(signer.appClaim)' is \(found), expected '\(appID)'",
                facts: appraisal.facts)
        }
        // A holder of a custom token may exchange it, and chooses the new token's `jti`.
        let holder = JSON.array([claims.issuer, claims.subject].map { $0.map { .string($0) } ?? .null })
        appraisal.holder = String(decoding: holder.encoded, as: UTF8.self)
        if let ttl = claims.json["ttl"] {
            // Admin SDKs write milliseconds into it.
            guard
                let lifetime = ttl.string.flatMap({ Duration(protoJSON: $0) }).flatMap({ TokenLifetime.asked($0) })
            else {
                return .refused(
                    CustomTokenReasons.claim,
                    detail: "its 'ttl' is not a duration from 1800s to 604800s, such as 3600s", facts: appraisal.facts)
            }
            appraisal.tokenLifetime = lifetime
        }
        return .verified(appraisal)
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
