internal import AssayCore

/// What the consumer itself answers when it refuses: the statuses, words and OAuth errors, each with its reason.
enum OAuthClientAnswers {
    /// A part of the section is needed that it does not have.
    static let absent = CallFailure(
        .permissionDenied, "This is not offered here.", reason: OAuthClientReasons.partAbsent,
        oauthError: "access_denied")
    static let keyMissing = CallFailure(
        .invalidArgument, "The client's public key is missing: expected one JWK.",
        reason: OAuthClientReasons.keyMissing, oauthError: "invalid_request")
    /// The requested type of token is not available (RFC 8693, section 2.2.2).
    static let typeNotOffered = CallFailure(
        .invalidArgument, "The requested type of token is not available for this audience.",
        reason: OAuthClientReasons.typeNotOffered, oauthError: "invalid_request")
    static let nonceInvalid = CallFailure(
        .invalidArgument, "The field 'eat_nonce' must have 8 to 88 characters.",
        reason: OAuthClientReasons.nonceInvalid, oauthError: "invalid_request")

    static func keyUnusable(_ detail: String?) -> CallFailure {
        CallFailure(
            .invalidArgument, "The client's public key cannot be used.", reason: OAuthClientReasons.keyUnusable,
            detail: detail, oauthError: "invalid_request")
    }

    /// The App Check token of a client assertion is not accepted.
    static func unverified(_ reason: Reason, detail: String?) -> CallFailure {
        CallFailure(
            .invalidArgument, "The authenticity of the client cannot be verified.", reason: reason, detail: detail,
            oauthError: "invalid_client")
    }

    /// A client attestation, or its proof, is not accepted.
    static func unauthenticated(_ refusal: ClientRefusal, metadata: [CallFailure.Metadata] = []) -> CallFailure {
        CallFailure(
            .invalidArgument, words[refusal.code] ?? "The client is not authenticated.", reason: refusal.reason,
            detail: refusal.detail, oauthError: refusal.code.rawValue, metadata: metadata)
    }

    /// One answer for each reason, and two where the error depends on the kind of proof.
    static let all =
        [absent, keyMissing, keyUnusable(nil), typeNotOffered, nonceInvalid]
        + OAuthClientReasons.ofAssertions.map { unverified($0, detail: nil) }
        + OAuthClientReasons.ofAttestations.map { unauthenticated(ClientRefusal($0)) }
        + OAuthClientReasons.ofChallenges.map { unauthenticated(ClientRefusal($0, .useDPoPNonce)) }

    private static let words: [ClientRefusal.Code: String] = [
        .invalidClientAttestation: "The client attestation or its proof is invalid.",
        .useFreshAttestation: "The client attestation is not fresh enough.",
        .useAttestationChallenge: "The proof must answer a challenge of this server.",
        .invalidDPoPProof: "The DPoP proof is invalid.",
        .useDPoPNonce: "The DPoP proof must answer a nonce of this server.",
    ]
}
