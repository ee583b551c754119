internal import AssayCore
internal import AssayCrypto
internal import AssayKit

/// Issues client attestations: JWTs with which an app that proved its identity shows an authorization server that it is
/// a genuine instance of a client (draft-ietf-oauth-attestation-based-client-auth-10).
struct ClientAttester: Sendable {
    let lifetime: Duration
    private let issuer: String?
    private let algorithms: Set<JWSAlgorithm>
    /// A key of its own; nil for the kernel's.
    private let signer: AttestationSigner?

    /// The longest JWK, in bytes; keys of RSA with 4096 bits have about 800.
    static let keyLimit = 4096
    /// Then the key that signed an attestation is published as long as it lives.
    private static let longestLifetimeByServiceKey = Duration.seconds(7 * 86_400)

    init(_ configuration: AttesterConfiguration, host: PluginHost, problems: inout ConfigurationProblems) {
        problems.check(configuration.lifetime, in: AttesterConfiguration.lives, at: ["attester", "ttl"])
        if configuration.key == nil, let lifetime = configuration.lifetime,
            lifetime > ClientAttester.longestLifetimeByServiceKey, AttesterConfiguration.lives.contains(lifetime)
        {
            problems.report(
                at: ["attester", "ttl"],
                "expected 7 days at most without `key`: a key of the service leaves the key set 8 days after its successor "
                    + "began")
        }
        problems.check(configuration.issuer, upTo: 2048, at: ["attester", "issuer"])
        problems.checkNotEmpty(configuration.keyAlgorithms, at: ["attester", "key_algorithms"])
        algorithms = SignatureAlgorithm.algorithms(configuration.keyAlgorithms ?? [.es256])
        lifetime = configuration.lifetime ?? AttesterConfiguration.standardLifetime
        issuer = configuration.issuer
        signer = configuration.key.flatMap { key in
            problems.attempt { () throws(ConfigurationError) in
                try AttestationSigner(key, at: ["attester", "key"], secrets: host.secrets)
            }
        }
    }

    /// An attestation of a client's key.
    ///
    /// - Throws: when it cannot be signed.
    func attest(_ key: ClientKey, of client: String, _ context: ConsumerContext) throws -> String {
        let now = context.now.seconds
        var claims = [
            JSONMember("sub", .string(client)), JSONMember("iat", .integer(now)),
            JSONMember("exp", .integer(now + lifetime.wholeSeconds)), JSONMember("cnf", key.confirmation),
            JSONMember(ClientAttestation.projectClaim, .string("projects/\(context.project.number)")),
        ]
        if let issuer { claims.insert(JSONMember("iss", .string(issuer)), at: 0) }
        guard let signer else { return try context.tokens.sign(type: ClientAttestation.type, claims: .object(claims)) }
        return try signer.sign(.object(claims))
    }

    /// The key to be attested, from a JWK as text.
    ///
    /// - Throws: `CallFailure`.
    func key(inText text: String) throws(CallFailure) -> ClientKey {
        let limits = JSON.Limits(bytes: ClientAttester.keyLimit, depth: 3, values: 64, allowsRepeatedNames: false)
        guard let json = try? JSON.parse(text.utf8, limits: limits) else {
            throw ClientAttester.unusable("it is not JSON")
        }
        return try key(in: json)
    }

    /// The key to be attested.
    ///
    /// - Throws: `CallFailure`.
    func key(in json: JSON) throws(CallFailure) -> ClientKey {
        do throws(ClientKey.Problem) {
            return try ClientKey(jwk: json, algorithms: algorithms)
        } catch {
            throw ClientAttester.unusable(error.message)
        }
    }

    private static func unusable(_ detail: String) -> CallFailure {
        OAuthClientAnswers.keyUnusable(detail)
    }

    /// The claims of an attestation that the attester's separate key signed; nil for all other tokens, or without such
    /// a key.
    func claims(of token: String) -> JSON? {
        signer?.claims(of: token)
    }
}
