public import AssayCore

/// Why the provider for Privacy Pass refuses.
public enum PrivacyPassReasons {
    /// The request has no token: the answer says for which challenge one is needed.
    public static let missing = Reason(
        "privacy_pass_token_missing", "The request has no private token.",
        advice: """
            Nothing, for the first request of a client: the answer's `WWW-Authenticate` names the challenges. If it is always so, the \
            client or a proxy does not send `Authorization: PrivateToken`.
            """, status: .unauthorized)
    /// The credentials or the token have not the form of RFC 9577.
    public static let malformed = Reason(
        "privacy_pass_token_malformed", "The private token has not the form that it must have.",
        advice:
            "The detail says what was expected. A single case is a made-up token; if all fail, look at the client's encoding."
    )
    /// The token is of another type than 0x0002.
    public static let type = Reason(
        "privacy_pass_token_type", "The private token is of a type that cannot be verified here.",
        advice:
            "Let the client ask for tokens of type 0x0002 (blind RSA of 2048 bits): only issuers can verify type 0x0001."
    )
    /// The policy does not have the key that the token names.
    public static let keyUnknown = Reason(
        "privacy_pass_key_unknown", "The private token is by a key that the policy does not have.",
        advice:
            "The detail has both identifiers. If the issuer has a new key, add it to `keys` from the issuer's directory."
    )
    /// The key that the token names is no longer accepted.
    public static let keyEnded = Reason(
        "privacy_pass_key_ended", "The private token is by a key whose time has ended.",
        advice: "Clients get tokens by the issuer's present key. If the key is still in use, correct its `until`.",
        status: .unauthorized)
    /// The token was made for another challenge: of another app, origin or issuer, or an older one.
    public static let challenge = Reason(
        "privacy_pass_challenge_mismatch", "The private token was made for another challenge.",
        advice: """
            Compare the issuer's `name` and `origins` with what the client was told, and let it send the challenge that it got the token \
            for. A single case is a token of another site.
            """, status: .unauthorized)
    /// The policy does not accept tokens for this kind of challenge.
    public static let context = Reason(
        "privacy_pass_context", "The policy does not accept private tokens for this kind of challenge.",
        advice: "The detail has both kinds. Let the client call the other method, or add the kind to `contexts`.")
    /// The signature of the token is invalid.
    public static let signature = Reason(
        "privacy_pass_signature_invalid", "The signature of the private token is invalid.",
        advice:
            "A single case is an altered token. If all fail, compare the client's and the issuer's variant: PSS, SHA-384, a salt of 48 bytes."
    )
    /// The token was used before.
    public static let used = Reason(
        "privacy_pass_token_used", "The private token was used before.",
        advice: "Let the client take another token for each exchange, also when it tries again.", status: .unauthorized)

    /// All of them.
    public static let all = [
        missing, malformed, type, keyUnknown, keyEnded, challenge, context, signature, used,
    ]

    /// The answer to a request without a token.
    ///
    /// - Parameter invitations: the values of `WWW-Authenticate`, one for each issuer.
    static func missingAnswer(_ invitations: [String]) -> CallFailure {
        CallFailure(
            .unauthenticated, "A private token is needed.", reason: missing,
            metadata: invitations.map { .init("www-authenticate", $0) })
    }
}
