public import AssayKit

/// A client instance that is authenticated: whose it is, and which key it holds.
public struct VerifiedClient: Sendable, Hashable {
    /// How a client proves that it holds the key of its attestation, by the names of the draft's metadata.
    public enum Method: String, Decodable, Sendable, Hashable, CaseIterable {
        /// By a JWT of its own.
        case possessionProof = "attestation_pop_jwt"
        /// By a DPoP proof that does for both.
        case combined = "dpop_combined"

        /// The authentication method at a token endpoint (`token_endpoint_auth_methods_supported`).
        public var authenticationMethod: String {
            switch self {
            case .possessionProof: "attest_jwt_client_auth"
            case .combined: "attest_jwt_client_auth_dpop"
            }
        }
    }

    /// `sub` of the attestation.
    @Exact public private(set) var clientID: String
    /// Who attested it, by the policy's name.
    @Exact public private(set) var attester: String
    /// The client instance's key.
    public let key: ClientKey
    /// When the attestation expires.
    public let expires: Instant
    public let method: Method
    /// The thumbprint of the DPoP proof's key, to which access tokens are bound; nil without such a proof.
    @Exact public private(set) var dpopThumbprint: String?
    /// The proofs that were used, to be remembered.
    public let proofs: [UsedProof]
}
