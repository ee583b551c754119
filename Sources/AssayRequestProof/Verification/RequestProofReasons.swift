public import AssayCore

/// Why the proof of a request is refused.
public enum RequestProofReasons {
    /// `proof_missing`: the request has no proof.
    public static let missing = Reason(
        "proof_missing", "The request has no proof.",
        advice: """
            Let the client send `Content-Digest`, `Signature-Input` and `Signature`, as `RequestProofs` of AssayClient does, and \
            check that the proxy passes them on.
            """)
    /// `proof_malformed`: the proof does not have the one form that is accepted.
    public static let malformed = Reason(
        "proof_malformed", "The proof does not have the one form that is accepted.",
        advice: "Compare the client's three header fields with those in *Prove requests*. The detail names the field.")
    /// `proof_key_missing`: the token names no key.
    public static let keyMissing = Reason(
        "proof_key_missing", "The token names no key that could prove the request.",
        advice: """
            Set `key_in_tokens: true` in `app_attest` of the app; tokens that were issued before have no key. Tokens of other \
            providers never have one: exclude them by `tokens.providers`.
            """)
    /// `proof_other_app`: the device signed for another app than the token's.
    public static let otherApp = Reason(
        "proof_other_app", "The device signed for another app than the token's.",
        advice: """
            Let the client take the token and the proof from one `AppCheck`: it sends the assertion of one app beside the token \
            of another one. Many cases of one key are an attempt to use a stolen token.
            """)
    /// `proof_too_old`: the proof was made longer ago than is accepted.
    public static let tooOld = Reason(
        "proof_too_old", "The proof was made longer ago than is accepted.",
        advice: """
            The request waited too long on its way, a proof was kept for a second request, or the device's clock is behind: \
            `RequestProofs` of AssayClient goes by the token's time instead. Raise `max_age` of `request_proof` if needed.
            """)
    /// `proof_not_yet_valid`: the proof was made in the future.
    public static let notYetValid = Reason(
        "proof_not_yet_valid", "The proof was made in the future.",
        advice: "Compare the clocks of the client and of this server. The time is `created` in `Signature-Input`.")
    /// `proof_signature`: the signature is of another key, or for another request.
    public static let signature = Reason(
        "proof_signature", "The signature is of another key, or for another request.",
        advice: """
            Compare method, authority, target and digest that the client signed with those that arrive: a proxy may change the path \
            or the query, and `authorities` must name the host as the client writes it. After a new App Attest key the client \
            needs a new token.
            """)
    /// `proof_digest`: the content is not the one that was signed.
    public static let digest = Reason(
        "proof_digest", "The content is not the one that was signed.",
        advice: "Something between the client and this server changes the content, or reads and writes it anew.")
    /// `proof_reused`: the proof was used before.
    public static let reused = Reason(
        "proof_reused", "The proof was used before.",
        advice:
            "A request was sent twice, or replayed. A client must make a new proof for each request, also when it retries."
    )

    /// `proof_before_state`: the proof may have been used before the state began.
    public static let beforeState = Reason(
        "proof_before_state", "The proof may have been used before the state began.",
        advice: """
            After a start with an empty state, such as `memory`, no proof is accepted that was made before, or in the first \
            seconds. If the state was lost, find out why; a new request of the client passes.
            """)
    /// `proof_undecided`: it is unknown whether the proof was used.
    public static let undecided = Reason(
        "proof_undecided", "It is unknown whether the proof was used, because the state cannot be read or written.",
        advice: "Mend the state store: see `/readyz` and the log. Where proofs are enforced, such requests get 503.")

    /// All of them.
    public static let all = [
        missing, malformed, keyMissing, otherApp, tooOld, notYetValid, signature, digest, reused, beforeState,
        undecided,
    ]
}
