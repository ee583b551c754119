public import AssayCore
internal import AssayCrypto
public import AssayKit

/// Privacy Pass: tokens that an issuer signed blindly for a device that it vouches for, and that nobody can link to it (RFC 9576).
///
/// Tokens of type 0x0002 are accepted, blind RSA of 2048 bits, because anybody can verify them (RFC 9578, section 6).
public struct PrivacyPassProvider: AttestationProvider {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.provider(
        name: "privacy_pass", version: AssayVersion.text,
        summary: "Privacy Pass tokens (blind RSA) of issuers that the policy names.", stability: .experimental,
        posture: SecurityPosture(
            proves: """
                An issuer of the policy vouched for a device, an account or another token, and signed blindly for one of the policy's \
                origins. It does not prove which app or device that was, or that the token is of the client that sends it.
                """,
            trusts: [
                "the issuers that the policy names, the attesters that they trust, and those who hold their keys",
                "the client, which must ask only for tokens of the origin that it talks to",
                "the state store, which remembers used challenges and tokens",
            ]),
        reasons: PrivacyPassReasons.all, facts: [.privacyPassIssuer, .privacyPassKey],
        // One RSA verification a token, some 15 µs to 50 µs, and none for a token of an unknown key or for another challenge.
        limits: PluginLimits(
            evidence: 4096, cpuTime: .milliseconds(100), concurrentCalls: 10_000, outboundCalls: 0, storeWrites: 1,
            reply: 4096),
        execution: .shared, answers: [PrivacyPassReasons.missingAnswer([])])

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ProviderMethod<PrivacyPassProvider>] = [
        .challenge("generatePrivacyPassChallenge"),
        .exchange(
            "exchangePrivacyPassToken", challenge: { (request: PrivacyPassRequest) in request.challenge },
            binding: binding
        ) { (provider, request: PrivacyPassRequest, context) in
            let (challenge, credentials) = (context.challenge ?? [], request.credentials)
            return try provider.appraise(credentials, .perChallenge, redemption: SHA256.hash(challenge), context)
        },
        .exchange("exchangeCachedPrivacyPassToken", binding: binding) {
            (provider, request: CachedPrivacyPassRequest, context) in
            try provider.appraise(request.credentials, .none, redemption: [], context)
        },
    ]

    /// The header of RFC 9577, section 2.2, is a field of the message, too.
    private static let binding = HTTPBinding(requestHeaders: [.init("authorization", "privateToken")])

    private let contexts: Set<PrivacyPassConfiguration.Context>
    private let issuers: [PrivacyPassIssuer]
    /// The issuers' keys by their identifiers.
    private let keys: [[UInt8]: (issuer: PrivacyPassIssuer, key: PrivacyPassIssuer.Key)]

    /// Makes the provider for an app from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: PrivacyPassConfiguration, app: AppIdentity, host: PluginHost
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        let origins = configuration.checkedOrigins(&problems)
        var issuers: [PrivacyPassIssuer] = []
        var keys: [[UInt8]: (issuer: PrivacyPassIssuer, key: PrivacyPassIssuer.Key)] = [:]
        if !(1...PrivacyPassConfiguration.issuerLimit).contains(configuration.issuers.count) {
            problems.report(at: ["issuers"], "expected 1 to \(PrivacyPassConfiguration.issuerLimit) issuers")
        }
        for (index, section) in configuration.issuers.enumerated() {
            let path: [ConfigurationError.Component] = ["issuers", .index(index)]
            let made = problems.attempt { () throws(ConfigurationError) in
                try PrivacyPassIssuer(section, origins: origins, at: path, host: host)
            }
            guard let issuer = made else { continue }
            if issuers.contains(where: { $0.name.isExactly(issuer.name) }) {
                problems.report(at: path + ["name"], "the issuer `\(issuer.name)` is repeated here")
            }
            issuers.append(issuer)
            for (place, key) in issuer.keys.enumerated()
            where keys.updateValue((issuer, key), forKey: key.key.identifier) != nil {
                problems.report(at: path + ["keys", .index(place)], "the key is repeated here")
            }
        }
        if configuration.contexts?.isEmpty == true {
            problems.report(at: ["contexts"], "expected at least one; leave the key out")
        }
        try problems.throwIfAny()
        contexts = Set(configuration.contexts ?? [.perChallenge])
        (self.issuers, self.keys) = (issuers, keys)
    }

    /// - Parameters:
    ///   - context: the kind of challenges that the method is for.
    ///   - redemption: the `redemption_context` that the token's challenge must have: 32 bytes or none.
    /// - Throws: `CallFailure` with the issuers' challenges when the request has no token.
    func appraise(
        _ credentials: PrivateTokenCredentials, _ kind: PrivacyPassConfiguration.Context, redemption: [UInt8],
        _ context: ProviderContext
    ) throws -> Verdict {
        guard contexts.contains(kind) else {
            let accepted = contexts.map(\.rawValue).sortedExactly().joined(separator: ", ")
            return .refused(PrivacyPassReasons.context, detail: "\(kind.rawValue), expected \(accepted)")
        }
        let bytes: [UInt8]
        switch credentials {
        case .none:
            throw PrivacyPassReasons.missingAnswer(
                issuers.compactMap { $0.invitation(redemption: redemption, at: context.now) })
        case .malformed(let problem): return .refused(PrivacyPassReasons.malformed, detail: problem)
        case .token(let token): bytes = token
        }
        let token: PrivateToken
        switch PrivateToken.read(bytes) {
        case .failure(let problem): return .refused(problem.reason, detail: problem.detail)
        case .success(let read): token = read
        }
        guard let (issuer, key) = keys[Array(token.keyID)] else {
            let known = keys.keys.map { Hex.encode($0) }.sortedExactly().prefix(4).joined(separator: " or ")
            return .refused(PrivacyPassReasons.keyUnknown, detail: "\(Hex.encode(token.keyID)), expected \(known)")
        }
        let facts = [
            Fact(.privacyPassIssuer, .text(issuer.name)), Fact(.privacyPassKey, .text(Hex.encode(token.keyID))),
        ]
        if let end = key.end, context.now >= end {
            return .refused(
                PrivacyPassReasons.keyEnded, detail: "it ended at \(end), and it is \(context.now)", facts: facts)
        }
        let digest = issuer.challengeDigest(redemption: redemption)
        guard token.challengeDigest.elementsEqual(digest) else {
            return .refused(
                PrivacyPassReasons.challenge,
                detail: "\(Hex.encode(token.challengeDigest)), expected \(Hex.encode(digest))", facts: facts)
        }
        guard key.key.isValidSignature(token.authenticator, message: token.signed) else {
            return .refused(
                PrivacyPassReasons.signature, detail: "no signature by the key \(Hex.encode(token.keyID))", facts: facts
            )
        }
        var appraisal = Appraisal(facts: facts)
        if kind == .none {
            // Other apps of any project may accept the same token. Nothing tells how long the key is in use.
            let name = Hex.encode(SHA256.hash(token.keyID, token.nonce))
            appraisal.uses = [
                EvidenceUse(
                    context.pluginState.subspace("nonces").inserting(name, expires: nil, isListed: false),
                    otherwise: PrivacyPassReasons.used, detail: "the nonce \(Hex.encode(token.nonce))")
            ]
        }
        return .verified(appraisal)
    }
}

extension FactName {
    /// The issuer of the token, as the policy names it.
    public static let privacyPassIssuer: FactName = "privacy_pass_issuer"
    /// The identifier of the key that signed the token, in hexadecimal digits.
    public static let privacyPassKey = FactName("privacy_pass_key", .digest)
}

/// What a client sends with a token for a challenge, or without a token to learn what token is needed.
struct PrivacyPassRequest: RequestMessage {
    static let shape: MessageShape? = [.required("challenge", .bytes)] + CachedPrivacyPassRequest.fields

    let challenge: [UInt8]
    let credentials: PrivateTokenCredentials

    init(_ fields: RequestFields) throws(InvalidRequest) {
        challenge = try fields.bytes("challenge")
        credentials = try CachedPrivacyPassRequest(fields).credentials
    }
}

/// What a client sends with a token for no challenge in particular.
struct CachedPrivacyPassRequest: RequestMessage {
    static let fields: [MessageField] = [.optional("privateToken", .textOfLength(0...PrivateTokenCredentials.limit))]
    static let shape: MessageShape? = MessageShape(fields)

    let credentials: PrivateTokenCredentials

    init(_ fields: RequestFields) throws(InvalidRequest) {
        let values = try fields.strings("privateToken")
        guard values.count <= 4 else { throw InvalidRequest("the field 'privateToken' has too many values") }
        credentials = PrivateTokenCredentials(values)
    }
}
