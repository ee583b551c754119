public import AssayCore
public import AssayCrypto

/// The demand on every proof that a client holds its key.
public struct ProofRules: Sendable, Hashable {
    /// The algorithms that proofs may be signed with; all are asymmetric.
    public var algorithms: Set<JWSAlgorithm>
    /// How old a proof may be.
    public var window: Duration
    /// How far a client's clock may be ahead.
    public var skew: Duration
    /// Whether the forms of drafts before the tenth are accepted as well.
    public var acceptsOlderDrafts: Bool

    /// Makes rules; every argument has a default.
    public init(
        algorithms: Set<JWSAlgorithm> = Set(JWSAlgorithm.allCases), window: Duration = .seconds(300),
        skew: Duration = .seconds(30), acceptsOlderDrafts: Bool = false
    ) {
        self.algorithms = algorithms
        self.window = window
        self.skew = skew
        self.acceptsOlderDrafts = acceptsOlderDrafts
    }
}

/// Why a client is not authenticated: the reason for operators, and the error that a client understands.
public struct ClientRefusal: Error, Sendable, Hashable {
    /// The error codes for clients (draft-ietf-oauth-attestation-based-client-auth-10, errors; RFC 9449, section 5).
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case invalidClientAttestation = "invalid_client_attestation"
        case useFreshAttestation = "use_fresh_attestation"
        case useAttestationChallenge = "use_attestation_challenge"
        case invalidDPoPProof = "invalid_dpop_proof"
        case useDPoPNonce = "use_dpop_nonce"
    }

    /// The reason for operators, which continues record.
    public let reason: Reason
    /// The error code that the client gets.
    public let code: Code
    /// What helps an operator; nothing of a token.
    @Exact public private(set) var detail: String?

    /// Makes a refusal.
    ///
    /// - `code`: The error code for the client; the reason's own when nil.
    /// - `detail`: What helps an operator; it must contain nothing of a token.
    public init(_ reason: Reason, _ code: Code? = nil, detail: String? = nil) {
        self.reason = reason
        self.code = code ?? Code(reason)
        self.detail = detail
    }
}

extension ClientRefusal.Code {
    /// The error code of a reason, if it does not depend on what was verified.
    init(_ reason: Reason) {
        switch reason {
        case OAuthClientReasons.attestationExpired, OAuthClientReasons.attestationTooOld: self = .useFreshAttestation
        case OAuthClientReasons.challengeMissing, OAuthClientReasons.challengeUnknown,
            OAuthClientReasons.challengeExpired:
            self = .useAttestationChallenge
        default:
            self = OAuthClientReasons.ofDPoP.contains(reason) ? .invalidDPoPProof : .invalidClientAttestation
        }
    }
}

/// Why a proof of possession is refused: the reasons that both kinds of proofs have.
public struct ProofReasons: Sendable {
    /// The request has more than one proof.
    public let several: Reason
    /// The proof is not a JWT.
    public let malformed: Reason
    /// The `typ` of the proof is not the expected one.
    public let type: Reason
    /// The algorithm is not accepted, or does not match the key.
    public let algorithm: Reason
    /// The signature is invalid.
    public let signature: Reason
    /// A required claim is missing.
    public let claim: Reason
    /// The proof is too old.
    public let stale: Reason
    /// The proof was made in the future.
    public let notYetValid: Reason
    /// The proof was used before.
    public let replayed: Reason
    /// The proof may have been used before the state began.
    public let beforeState: Reason

    /// - Parameters:
    ///   - prefix: what the codes begin with.
    ///   - noun: what the proof is called in a sentence: `DPoP proof`.
    ///   - header: the header that carries it.
    ///   - type: what `typ` must be.
    ///   - key: what the key that must have signed it is called in a sentence.
    init(prefix: String, noun: String, header: String, type: String, key: String) {
        several = Reason(
            "\(prefix)_several", "The request has more than one \(noun).",
            advice: "Find out which client or proxy adds a second header `\(header)`, and remove it.")
        malformed = Reason(
            "\(prefix)_malformed", "The \(noun) is not a JWT.",
            advice: "Check that the header `\(header)` contains only one JWT.")
        self.type = Reason(
            "\(prefix)_type", "The \(noun) has an unexpected `typ`.",
            advice: "Let the client set `typ` to `\(type)`.")
        algorithm = Reason(
            "\(prefix)_algorithm", "The \(noun) uses an algorithm that is not accepted or does not match its key.",
            advice: "Let the client sign with the one of `verifier.proof_algorithms` that matches its key.")
        signature = Reason(
            "\(prefix)_signature", "The \(noun) has an invalid signature.",
            advice: "Let the client sign with \(key). A single case is an altered proof.")
        claim = Reason(
            "\(prefix)_claim", "The \(noun) lacks a required claim.",
            advice: "The record's `detail` names the claim; let the client put it in.")
        stale = Reason(
            "\(prefix)_stale", "The \(noun) is too old.",
            advice: """
                Let the client make a new proof for each request, and correct its clock; `verifier.window` is how old \
                proofs may be.
                """)
        notYetValid = Reason(
            "\(prefix)_not_yet_valid", "The \(noun) was made in the future.",
            advice: """
                The client's clock is ahead by more than `verifier.clock_skew`: let it follow the server's `Date` header.
                """)
        replayed = Reason(
            "\(prefix)_replayed", "The \(noun) was used before.",
            advice: """
                Let the client make a new proof with a new `jti` for each request, also when it retries. Otherwise an \
                attacker replays proofs.
                """)
        beforeState = Reason(
            "\(prefix)_before_state", "The \(noun) may have been used before the state began.",
            advice: """
                After a start with an empty state, such as `memory`, or with a restored one, no proof is accepted that was \
                made before, or within `verifier.clock_skew` after it, unless it answers a challenge that was made since: \
                the client is told to use one. If the state was lost, find out why.
                """)
    }

    var all: [Reason] {
        [several, malformed, type, algorithm, signature, claim, stale, notYetValid, replayed, beforeState]
    }
}
