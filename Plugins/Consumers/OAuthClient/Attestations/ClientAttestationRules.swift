public import AssayCrypto

/// What is demanded of client attestations, and of the proofs that come with them.
public struct ClientAttestationRules: Sendable, Hashable {
    /// Whether proofs must answer a challenge.
    public enum ChallengeUse: String, Decodable, Sendable, Hashable, CaseIterable {
        case required
        /// One that is there must be good.
        case optional
        /// Nobody looks at them.
        case off
    }

    /// The algorithms that attestations may be signed with.
    public var algorithms: Set<JWSAlgorithm>
    /// How long ago an attestation may have been issued; nil for as long as it lives.
    public var maximumAge: Duration?
    public var proofs: ProofRules
    /// The ways to prove possession that are taken.
    public var methods: Set<VerifiedClient.Method>
    /// Challenges in proofs for attestations: in `challenge`, or in `nonce` of a DPoP proof that does for both.
    public var challenge: ChallengeUse
    /// Nonces in DPoP proofs beside another proof.
    public var dpopNonce: ChallengeUse

    public init(
        algorithms: Set<JWSAlgorithm> = Set(JWSAlgorithm.allCases), maximumAge: Duration? = nil,
        proofs: ProofRules = ProofRules(), methods: Set<VerifiedClient.Method> = Set(VerifiedClient.Method.allCases),
        challenge: ChallengeUse = .optional, dpopNonce: ChallengeUse = .optional
    ) {
        self.algorithms = algorithms
        self.maximumAge = maximumAge
        self.proofs = proofs
        self.methods = methods
        self.challenge = challenge
        self.dpopNonce = dpopNonce
    }
}
