public import AssayJWT
public import AssayKit

/// Somebody whose client attestations are trusted.
public struct TrustedAttester: Sendable {
    /// What operators and authorization servers know it by.
    public let name: String
    /// What `iss` of its attestations must say where it is there; nil for whatever it says.
    public let issuer: String?
    /// The clients that it attests; nil for all.
    public let clients: Set<ExactText>?
    /// The project that its attestations must name, when it is this service.
    let project: String?
    /// Verifies the signature of a JWT.
    private let verifying: @Sendable (String) async throws -> Void

    /// What this service itself is called.
    public static let own = "self"

    /// An attester who publishes keys, or whose keys are known.
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

    /// Whether an attestation could be one of this attester's, by what it says.
    func mayHaveIssued(_ attestation: ClientAttestation) -> Bool {
        if let project { return attestation.project.isExactly(project) }
        guard let issuer, let named = attestation.issuer else { return true }
        return issuer.isExactly(named)
    }

    /// Verifies an attestation's signature.
    ///
    /// - Throws: ``JWTFault`` when it is not this attester's; ``KeysUnavailable`` when that cannot be told now.
    func verify(_ token: String) async throws {
        try await verifying(token)
    }
}
