public import AssayCore
public import AssayCrypto
internal import AssayKit
public import AssayVerifier

/// An attester whose client attestations are trusted.
public struct TrustedAttester: Sendable {
    /// What operators and authorization servers know it by.
    public let name: String
    /// The required `iss` of its attestations, if they have one; nil for any.
    public let issuer: String?
    /// The clients that it attests; nil for all.
    public let clients: Set<ExactText>?
    /// The project that its attestations must name, when it is this service.
    let project: String?
    /// Verifies the signature of a JWT.
    private let verifying: @Sendable (String) async throws -> Void

    /// What this service itself is called.
    public static let own = "self"

    /// An attester that publishes keys, or whose keys are known.
    public init(name: String, issuer: String?, clients: Set<ExactText>?, keys: IssuerKeys) {
        self.name = name
        self.issuer = issuer
        self.clients = clients
        project = nil
        verifying = { _ = try await keys.verify($0, types: [ExactText(ClientAttestation.type), "jwt"]) }
    }

    /// This service itself, as the attester of one project's clients.
    ///
    /// - Parameter verify: whether a JWT is signed by it.
    init(own project: ProjectIdentity, clients: Set<ExactText>, verify: @escaping @Sendable (String) -> Bool) {
        name = TrustedAttester.own
        issuer = nil
        self.clients = clients
        self.project = "projects/\(project.number)"
        verifying = { guard verify($0) else { throw JWTFault.keyUnknown } }
    }

    /// Whether an attestation may be from this attester, according to its claims.
    func mayHaveIssued(_ attestation: ClientAttestation) -> Bool {
        if let project { return attestation.project.isExactly(project) }
        guard let issuer, let named = attestation.issuer else { return true }
        return issuer.isExactly(named)
    }

    /// Verifies an attestation's signature.
    ///
    /// - Throws: `JWTFault` when it is not this attester's; `KeysUnavailable` when that cannot be decided now.
    func verify(_ token: String) async throws {
        try await verifying(token)
    }
}

/// The demand on client attestations, and on the proofs that come with them.
public struct ClientAttestationRules: Sendable, Hashable {
    /// Whether proofs must answer a challenge.
    public enum ChallengeUse: String, Decodable, Sendable, Hashable, CaseIterable {
        case required
        /// If present, it must be valid.
        case optional
        /// It is ignored.
        case off
    }

    /// The algorithms that attestations may be signed with.
    public var algorithms: Set<JWSAlgorithm>
    /// How long ago an attestation may have been issued; nil for as long as it lives.
    public var maximumAge: Duration?
    /// What every proof of possession must meet.
    public var proofs: ProofRules
    /// The accepted ways to prove possession.
    public var methods: Set<VerifiedClient.Method>
    /// Challenges in proofs for attestations: in `challenge`, or in `nonce` of a DPoP proof that does for both.
    public var challenge: ChallengeUse
    /// Nonces in DPoP proofs that come with another proof.
    public var dpopNonce: ChallengeUse

    /// Makes rules; every argument has a default.
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
