public import AssayKit

/// Why a client is not authenticated: the reason for operators, and the error that a client understands.
public struct ClientRefusal: Error, Sendable, Hashable {
    /// The errors that clients are told (draft-ietf-oauth-attestation-based-client-auth-10, errors; RFC 9449, section 5).
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case invalidClientAttestation = "invalid_client_attestation"
        case useFreshAttestation = "use_fresh_attestation"
        case useAttestationChallenge = "use_attestation_challenge"
        case invalidDPoPProof = "invalid_dpop_proof"
        case useDPoPNonce = "use_dpop_nonce"
    }

    public let reason: Reason
    public let code: Code
    /// What helps an operator; nothing of a token.
    @Exact public private(set) var detail: String?

    public init(_ reason: Reason, _ code: Code = .invalidClientAttestation, detail: String? = nil) {
        self.reason = reason
        self.code = code
        self.detail = detail
    }
}
