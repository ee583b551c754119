public import AssayKit

/// Why the consumer of OAuth clients refuses.
public enum OAuthClientReasons {
    // What every part has.
    public static let partAbsent = Reason(
        "oauth_part_absent", "The policy's section has no such part, or does not name the audience for it.")
    public static let clientUnknown = Reason(
        "oauth_client_unknown", "The token is of an app that is no OAuth client and that the policy maps to none.")
    public static let typeNotOffered = Reason(
        "oauth_token_type_not_offered", "Another type of token is requested than there is for the audience.")

    // Attestations that are issued.
    public static let keyMissing = Reason("oauth_client_key_missing", "There is no public key of the client.")
    public static let keyUnusable = Reason(
        "oauth_client_key_unusable", "The client's key is no public key, or of a kind that the policy does not take.")

    // Attestations that are verified.
    public static let attestationMissing = Reason("client_attestation_missing", "There is no client attestation.")
    public static let attestationSeveral = Reason(
        "client_attestation_several", "There is more than one client attestation.")
    public static let attestationMalformed = Reason(
        "client_attestation_malformed", "The client attestation is not a JWT.")
    public static let attestationType = Reason(
        "client_attestation_type", "The client attestation is of another type, by its `typ`.")
    public static let attestationAlgorithm = Reason(
        "client_attestation_algorithm", "The client attestation names an algorithm that is not taken.")
    public static let attestationClaim = Reason(
        "client_attestation_claim", "The client attestation lacks a claim that it must have.")
    public static let attestationKey = Reason(
        "client_attestation_key", "The key in the client attestation is no public key of a kind that is taken.")
    public static let attestationExpired = Reason(
        "client_attestation_expired", "The client attestation has expired.")
    public static let attestationTooOld = Reason(
        "client_attestation_too_old", "The client attestation is older than the policy lets it be.")
    public static let attestationNotYetValid = Reason(
        "client_attestation_not_yet_valid", "The client attestation was made in the future.")
    public static let attestationAttester = Reason(
        "client_attestation_attester", "The client attestation is of nobody whom the policy trusts.")
    public static let attestationSignature = Reason(
        "client_attestation_signature", "The client attestation's signature is wrong.")
    public static let attestationClient = Reason(
        "client_attestation_for_another_client", "The client attestation is of another client than `client_id` names.")
    public static let attestationClientUnknown = Reason(
        "client_attestation_client_unknown", "The attester may not speak for the client.")
    public static let attestationNotBound = Reason(
        "client_attestation_not_bound", "The client attestation has another key than the grant is bound to.")

    // Proofs of possession.
    public static let proofMissing = Reason(
        "client_proof_missing", "There is nothing that proves the possession of the attested key.")
    public static let proofMethod = Reason(
        "client_proof_method", "The possession of the attested key is proved in a way that the policy does not take.")
    public static let proof = ProofReasons(prefix: "client_proof", what: "The proof of possession")
    public static let proofAudience = Reason(
        "client_proof_audience", "The proof of possession was made for another server.")
    public static let proofIssuer = Reason(
        "client_proof_issuer", "The proof of possession names another client than its attestation.")
    public static let dpop = ProofReasons(prefix: "dpop_proof", what: "The DPoP proof")
    public static let dpopMissing = Reason(
        "dpop_proof_missing", "There is no DPoP proof, and the access token is bound to a key.")
    public static let dpopKey = Reason(
        "dpop_proof_key", "The DPoP proof brings no public key of a kind that is taken.")
    public static let dpopMethod = Reason("dpop_proof_method", "The DPoP proof was made for another method.")
    public static let dpopTarget = Reason("dpop_proof_target", "The DPoP proof was made for another URI.")
    public static let dpopTokenHash = Reason(
        "dpop_proof_token_hash", "The DPoP proof was made for another access token.")
    public static let dpopNotAttested = Reason(
        "dpop_proof_not_attested", "The DPoP proof is of another key than the attested one.")
    public static let dpopNotBound = Reason(
        "dpop_proof_not_bound", "The DPoP proof is of another key than the grant or the token is bound to.")
    public static let dpopThumbprintCombined = Reason(
        "dpop_thumbprint_combined", "`dpop_jkt` does not go with a DPoP proof that stands for both proofs.")

    // Challenges.
    public static let challengeMissing = Reason(
        "attestation_challenge_missing", "The proof answers no challenge, and the policy demands it.")
    public static let challengeUnknown = Reason(
        "attestation_challenge_unknown", "The proof answers a challenge that is none of this service for the audience.")
    public static let challengeExpired = Reason(
        "attestation_challenge_expired", "The proof answers a challenge that has expired.")

    // App Check tokens as client assertions.
    public static let assertionMissing = Reason("client_assertion_missing", "There is no client assertion.")
    public static let assertionSeveral = Reason(
        "client_assertion_several", "There is more than one client assertion, or type of one.")
    public static let assertionType = Reason(
        "client_assertion_type", "The client assertion is of another type than an App Check token.")
    public static let assertionPlaceholder = Reason(
        "client_assertion_placeholder",
        "The client assertion is what App Check's clients send when they could get no token.")
    public static let assertionClient = Reason(
        "client_assertion_client_unknown", "The request is of a client that the project does not have.")
    public static let assertionInvalid = Reason(
        "client_assertion_invalid", "The App Check token in the client assertion is not good for the client.")

    // Attestation results.
    public static let nonceInvalid = Reason(
        "attestation_result_nonce", "The nonce for an attestation result has fewer than 8 or more than 88 characters.")

    /// All of them.
    public static let all =
        [
            partAbsent, clientUnknown, typeNotOffered, keyMissing, keyUnusable, attestationMissing, attestationSeveral,
            attestationMalformed, attestationType, attestationAlgorithm, attestationClaim, attestationKey,
            attestationExpired, attestationTooOld, attestationNotYetValid, attestationAttester, attestationSignature,
            attestationClient, attestationClientUnknown, attestationNotBound, proofMissing, proofMethod, proofAudience,
            proofIssuer, dpopMissing, dpopKey, dpopMethod, dpopTarget, dpopTokenHash, dpopNotAttested, dpopNotBound,
            dpopThumbprintCombined, challengeMissing, challengeUnknown, challengeExpired, assertionMissing,
            assertionSeveral, assertionType, assertionPlaceholder, assertionClient, assertionInvalid, nonceInvalid,
        ] + proof.all + dpop.all
}
