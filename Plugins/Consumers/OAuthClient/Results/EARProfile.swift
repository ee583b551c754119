internal import AssayKit

/// What EAT attestation results are called (draft-ietf-rats-ear; RFC 9711; RFC 9782).
enum EARProfile {
    /// `eat_profile` of the third draft.
    static let standard = "tag:ietf.org,2026:rats/ear#03"
    /// `developer` of `ear_verifier_id`.
    static let developer = "assay"
    /// `typ` of the header.
    static let type = "eat+jwt"
    /// What requests may name as `requested_token_type`, beside that of a JWT.
    static let requestedTypes: Set<ExactText> = ["application/eat+jwt", "application/eat-jwt"]
    /// The label of the one attester in `submods`.
    static let submodule = "app"
    /// How many characters `eat_nonce` has (RFC 9711, section 4.1).
    static let nonceLengths = 8...88
}
