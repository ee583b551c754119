public import AssayCore

/// The part `verifier`: which client attestations and which proofs are accepted.
public struct AttestationVerifierConfiguration: Decodable, Sendable {
    /// The identifiers of resource servers that take client attestations, too.
    public let resourceServers: [AudienceName]?
    /// Whether this project's own attestations are trusted; they are when absent.
    public let own: Bool?
    /// Others whose attestations are trusted.
    public let attesters: [Attester]?
    /// The algorithms that attestations may be signed with; all when absent.
    public let algorithms: [SignatureAlgorithm]?
    /// The algorithms that proofs may be signed with; all when absent.
    public let proofAlgorithms: [SignatureAlgorithm]?
    /// How clients may prove that they hold the key; both ways when absent.
    public let methods: [VerifiedClient.Method]?
    /// The largest age of proofs; five minutes when absent.
    public let window: Duration?
    /// How far clients' clocks may be ahead; 30 seconds when absent.
    public let clockSkew: Duration?
    /// How long ago attestations may have been issued; as long as they live when absent.
    public let maximumAge: Duration?
    /// Challenges in proofs; `optional` when absent.
    public let challenge: ClientAttestationRules.ChallengeUse?
    /// Nonces in DPoP proofs that come with another proof; `optional` when absent.
    public let dpopNonce: ClientAttestationRules.ChallengeUse?
    /// How long challenges are valid; five minutes when absent.
    public let challengeLifetime: Duration?
    /// Whether the forms of older drafts are accepted; they are not when absent.
    public let compatibility: Bool?

    /// Another service that attests clients.
    public struct Attester: Decodable, Sendable {
        /// What `iss` says, where attestations have it.
        public let issuer: String?
        /// Where the keys are.
        public let jwks: String
        /// The clients that are attested; all when absent.
        public let clients: [String]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case issuer, jwks, clients
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case resourceServers = "resource_servers"
        case own, attesters, algorithms
        case proofAlgorithms = "proof_algorithms"
        case methods, window
        case clockSkew = "clock_skew"
        case maximumAge = "max_age"
        case challenge
        case dpopNonce = "dpop_nonce"
        case challengeLifetime = "challenge_life"
        case compatibility
    }

    /// An attestation that does not name its issuer is tried with each attester, so this bounds what it costs.
    static let attesterLimit = 8
    static let windows = Duration.seconds(1)...Duration.seconds(3600)
    static let skews = Duration.zero...Duration.seconds(300)
    static let challengeLives = Duration.seconds(10)...Duration.seconds(3600)
}

extension AttestationVerifierConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "resource_servers": PolicyKey(
            "Resource servers that accept client attestations too, as proofs name them in `aud`.", .notEmpty,
            examples: [["https://api.example.com"]]),
        "own": PolicyKey("Whether attestations that this project issued are trusted.", standard: true),
        "attesters": "Other attesters that are trusted, at most eight; none when absent.",
        "algorithms": PolicyKey(
            "The algorithms that attestations may be signed with.", .notEmpty, standard: ["RS256", "ES256", "ES384"]),
        "proof_algorithms": PolicyKey(
            "The algorithms that proofs of possession and DPoP proofs may be signed with.", .notEmpty,
            standard: ["RS256", "ES256", "ES384"]),
        "methods": PolicyKey(
            "How clients may prove that they hold the attested key: by a JWT of its own, or by their DPoP proof.",
            .notEmpty, standard: ["attestation_pop_jwt", "dpop_combined"]),
        "window": PolicyKey(
            "The largest age of proofs; five minutes when absent.", .durations(windows), examples: ["5m"]),
        "clock_skew": PolicyKey(
            "How far clients' clocks may be ahead; 30 seconds when absent.", .durations(skews), examples: ["30s"]),
        "max_age": PolicyKey(
            "How long ago attestations may have been issued; as long as they live when absent.", examples: ["12h"]),
        "challenge": PolicyKey(
            "Whether proofs must have a challenge, whether a challenge is checked if present, or whether it is ignored.",
            standard: "optional"),
        "dpop_nonce": PolicyKey(
            "The same for nonces of DPoP proofs that come with a proof of possession.", standard: "optional"),
        "challenge_life": PolicyKey(
            "How long challenges are valid; five minutes when absent.", .durations(challengeLives), examples: ["5m"]),
        "compatibility": PolicyKey(
            """
            Whether the forms of older drafts are accepted: `iss` in attestations and proofs, proofs with `exp` and no \
            `iat`, `nonce` for `challenge`, both JWTs in one header with a tilde between them.
            """, standard: false),
    ]
}

extension AttestationVerifierConfiguration.Attester: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "issuer": PolicyKey(
            "The required `iss` of attestations that have one; any when absent.", .length(1...2048),
            examples: ["https://attester.example.com"]),
        "jwks": PolicyKey(
            "Where its keys are: an https URL, or `file:PATH` or `env:NAME` for a document that is read with the policy.",
            examples: ["https://attester.example.com/jwks.json"]),
        "clients": PolicyKey("The clients that it attests; all when absent.", .notEmpty),
    ]
}
