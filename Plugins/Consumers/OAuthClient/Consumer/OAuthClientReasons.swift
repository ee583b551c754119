public import AssayCore

/// Why the consumer of OAuth clients refuses.
public enum OAuthClientReasons {
    // What every part has.
    /// The policy's section has no part for this request, or none for its audience.
    public static let partAbsent = Reason(
        "oauth_part_absent", "The policy's section has no part for this request, or none for its audience.",
        advice: """
            Add the part that is used to the section `oauth_client` (`attester`, `verifier`, `client_assertion`, \
            `introspection` or `ear`), or name the audience in it.
            """)
    /// The token's app is not an OAuth client, and the policy does not map it to one.
    public static let clientUnknown = Reason(
        "oauth_client_unknown", "The token's app is not an OAuth client, and the policy does not map it to one.",
        advice: """
            Map the app to its OAuth client under `clients`, or list the client under `oauth_clients` of the \
            project.
            """)
    /// The requested type of token is not available for the audience.
    public static let typeNotOffered = Reason(
        "oauth_token_type_not_offered", "The requested type of token is not available for the audience.",
        advice: "Leave `requested_token_type` out, or ask for `urn:ietf:params:oauth:token-type:jwt`.")

    // Attestations that are issued.
    /// The public key of the client is missing.
    public static let keyMissing = Reason(
        "oauth_client_key_missing", "The public key of the client is missing.",
        advice: "Let the client send its public key with the request for an attestation, as one JWK.")
    /// The client's key is not a public key, or is of a kind that the policy does not accept.
    public static let keyUnusable = Reason(
        "oauth_client_key_unusable",
        "The client's key is not a public key, or is of a kind that the policy does not accept.",
        advice: """
            The record's `detail` says what is wrong with the JWK. Check that it has no private part, and that its \
            algorithm is in `attester.key_algorithms`.
            """)

    // Attestations that are verified.
    /// The client attestation is missing.
    public static let attestationMissing = Reason(
        "client_attestation_missing", "The client attestation is missing.",
        advice: """
            Let the client send the header `OAuth-Client-Attestation`, and the authorization server forward it.
            """)
    /// The request has more than one client attestation.
    public static let attestationSeveral = Reason(
        "client_attestation_several", "The request has more than one client attestation.",
        advice: "Find out which client or proxy adds a second `OAuth-Client-Attestation` header, and remove it.")
    /// The client attestation is not a JWT.
    public static let attestationMalformed = Reason(
        "client_attestation_malformed", "The client attestation is not a JWT.",
        advice: "Check that the header contains only the attestation, as one JWT.")
    /// The client attestation has an unexpected `typ`.
    public static let attestationType = Reason(
        "client_attestation_type", "The client attestation has an unexpected `typ`.",
        advice: """
            The attestation must have `typ: oauth-client-attestation+jwt`. Set `verifier.compatibility: true` for \
            attesters of older drafts.
            """)
    /// The client attestation uses an algorithm that is not accepted.
    public static let attestationAlgorithm = Reason(
        "client_attestation_algorithm", "The client attestation uses an algorithm that is not accepted.",
        advice: "Let the attester sign with one of `verifier.algorithms`, or add its algorithm there.")
    /// The client attestation lacks a required claim.
    public static let attestationClaim = Reason(
        "client_attestation_claim", "The client attestation lacks a required claim.",
        advice: "The record's `detail` names the claim; let the attester put it in.")
    /// The key in the client attestation is not a public key of an accepted kind.
    public static let attestationKey = Reason(
        "client_attestation_key", "The key in the client attestation is not a public key of an accepted kind.",
        advice: """
            The record's `detail` says what is wrong with `cnf.jwk`. Check that its kind of key is one that \
            `verifier.proof_algorithms` has.
            """)
    /// The client attestation has expired.
    public static let attestationExpired = Reason(
        "client_attestation_expired", "The client attestation has expired.",
        advice: """
            Let the client fetch a new attestation; the error tells it so. If new ones are refused, compare the \
            clocks.
            """)
    /// The client attestation is older than the policy allows.
    public static let attestationTooOld = Reason(
        "client_attestation_too_old", "The client attestation is older than the policy allows.",
        advice: """
            Let the client fetch a new attestation; the error tells it so. If it happens too often, raise \
            `verifier.max_age`.
            """)
    /// The client attestation was made in the future.
    public static let attestationNotYetValid = Reason(
        "client_attestation_not_yet_valid", "The client attestation was made in the future.",
        advice: """
            Compare the clocks of the attester and of this server; `verifier.clock_skew` is the allowed difference.
            """)
    /// The policy does not trust the issuer of the client attestation.
    public static let attestationAttester = Reason(
        "client_attestation_attester", "The policy does not trust the issuer of the client attestation.",
        advice: """
            Add the attester to `verifier.attesters` with its `issuer` and `jwks`; for attestations of this project \
            set `verifier.own: true`.
            """)
    /// The client attestation's signature is invalid.
    public static let attestationSignature = Reason(
        "client_attestation_signature", "The client attestation's signature is invalid.",
        advice: """
            Check that the attester's `jwks` in the policy is its present one. A single case is an altered \
            attestation.
            """)
    /// The client attestation is not for the client that `client_id` names.
    public static let attestationClient = Reason(
        "client_attestation_for_another_client", "The client attestation is not for the client that `client_id` names.",
        advice: "Let the client send the `client_id` that its attestation has in `sub`.")
    /// The attester may not attest this client.
    public static let attestationClientUnknown = Reason(
        "client_attestation_client_unknown", "The attester may not attest this client.",
        advice: """
            Add the client to `clients` of the attester in `verifier.attesters`, if the attester may speak for it.
            """)
    /// The client attestation's key differs from the one that the grant is bound to.
    public static let attestationNotBound = Reason(
        "client_attestation_not_bound", "The client attestation's key differs from the one that the grant is bound to.",
        advice: """
            The grant or the token was given to another key. Let the client keep its key as long as its refresh \
            token, or authorize again.
            """)

    // Proofs of possession.
    /// The proof of possession of the attested key is missing.
    public static let proofMissing = Reason(
        "client_proof_missing", "The proof of possession of the attested key is missing.",
        advice: """
            Let the client send the header `OAuth-Client-Attestation-PoP`, or a DPoP proof, with the attestation.
            """)
    /// The policy does not accept this way of proving possession of the attested key.
    public static let proofMethod = Reason(
        "client_proof_method", "The policy does not accept this way of proving possession of the attested key.",
        advice: "Add the method that the client uses to `verifier.methods`, or change the client.")
    /// The reasons of a proof of possession that is a JWT of its own (`client_proof_…`).
    public static let proof = ProofReasons(
        prefix: "client_proof", noun: "proof of possession", header: "OAuth-Client-Attestation-PoP",
        type: "oauth-client-attestation-pop+jwt", key: "the attested key")
    /// The proof of possession was made for another server.
    public static let proofAudience = Reason(
        "client_proof_audience", "The proof of possession was made for another server.",
        advice: """
            Let the client put the issuer identifier of the authorization server into `aud`, spelled as in \
            `authorization_servers`.
            """)
    /// The proof of possession and the attestation name different clients.
    public static let proofIssuer = Reason(
        "client_proof_issuer", "The proof of possession and the attestation name different clients.",
        advice: "Let the client put its own `client_id` into `iss` of the proof.")
    /// The reasons of a DPoP proof (`dpop_proof_…`).
    public static let dpop = ProofReasons(
        prefix: "dpop_proof", noun: "DPoP proof", header: "DPoP", type: "dpop+jwt", key: "the key in its `jwk`")
    /// The access token is bound to a key, and the DPoP proof is missing.
    public static let dpopMissing = Reason(
        "dpop_proof_missing", "The access token is bound to a key, and the DPoP proof is missing.",
        advice: "Let the client send the header `DPoP`: its token is bound to a key.")
    /// The DPoP proof has no public key of an accepted kind.
    public static let dpopKey = Reason(
        "dpop_proof_key", "The DPoP proof has no public key of an accepted kind.",
        advice: """
            The record's `detail` says what is wrong with `jwk` in the proof's header. Check that its kind of key is \
            one that `verifier.proof_algorithms` has.
            """)
    /// The DPoP proof was made for another method.
    public static let dpopMethod = Reason(
        "dpop_proof_method", "The DPoP proof was made for another method.",
        advice: """
            Let the client put the request's HTTP method into `htm`. Behind a proxy, check that the server sends the \
            verifier the method that its client used.
            """)
    /// The DPoP proof was made for another URI.
    public static let dpopTarget = Reason(
        "dpop_proof_target", "The DPoP proof was made for another URI.",
        advice: """
            Let the client put the request's URI, without query and fragment, into `htu`. Behind a proxy, check that \
            the server sends the verifier its public URI.
            """)
    /// The DPoP proof was made for another access token.
    public static let dpopTokenHash = Reason(
        "dpop_proof_token_hash", "The DPoP proof was made for another access token.",
        advice: "Let the client put the SHA-256 of the access token that it sends into `ath`.")
    /// The key of the DPoP proof is not the attested key.
    public static let dpopNotAttested = Reason(
        "dpop_proof_not_attested", "The key of the DPoP proof is not the attested key.",
        advice: "Let the client sign the DPoP proof with the attested key, or also send a proof of possession.")
    /// The key of the DPoP proof differs from the one that the grant or the token is bound to.
    public static let dpopNotBound = Reason(
        "dpop_proof_not_bound",
        "The key of the DPoP proof differs from the one that the grant or the token is bound to.",
        advice: """
            The grant or the token was given to another key. Let the client keep its key as long as its tokens, or \
            authorize again.
            """)
    /// `dpop_jkt` cannot be used when one DPoP proof serves as both proofs.
    public static let dpopThumbprintCombined = Reason(
        "dpop_thumbprint_combined", "`dpop_jkt` cannot be used when one DPoP proof serves as both proofs.",
        advice: """
            Let the client leave `dpop_jkt` out when its DPoP proof also proves the possession of the attested key.
            """)

    // Challenges.
    /// The policy requires a challenge, and the proof has none.
    public static let challengeMissing = Reason(
        "attestation_challenge_missing", "The policy requires a challenge, and the proof has none.",
        advice: """
            The client gets a challenge with this error, and must use it in the next proof. Set `verifier.challenge: \
            optional` if clients cannot.
            """)
    /// The challenge in the proof was not issued by this service for the audience.
    public static let challengeUnknown = Reason(
        "attestation_challenge_unknown", "The challenge in the proof was not issued by this service for the audience.",
        advice: """
            The client gets a new challenge with this error. If this continues, check that all servers share one state \
            store, and that the client asks the server it then calls.
            """)
    /// The challenge in the proof has expired.
    public static let challengeExpired = Reason(
        "attestation_challenge_expired", "The challenge in the proof has expired.",
        advice: """
            The client gets a new challenge with this error. If it happens often, raise `verifier.challenge_life`.
            """)

    // App Check tokens as client assertions.
    /// The client assertion is missing.
    public static let assertionMissing = Reason(
        "client_assertion_missing", "The client assertion is missing.",
        advice: """
            Let the client send `client_assertion` with an App Check token. Set the enforcement to `UNENFORCED` \
            until all clients do.
            """)
    /// The request has more than one client assertion or client assertion type.
    public static let assertionSeveral = Reason(
        "client_assertion_several", "The request has more than one client assertion or client assertion type.",
        advice: "Let the client send one `client_assertion` and one `client_assertion_type`.")
    /// The client assertion is not an App Check token.
    public static let assertionType = Reason(
        "client_assertion_type", "The client assertion is not an App Check token.",
        advice: "Let the client send the type that Google Sign-In sends for App Check: see *OAuth clients*.")
    /// The client assertion is what App Check's clients send when they could get no token.
    public static let assertionPlaceholder = Reason(
        "client_assertion_placeholder",
        "The client assertion is what App Check's clients send when they could get no token.",
        advice: """
            The client could not get a token: look for the refusal of its evidence at the same time, or for an \
            outage.
            """)
    /// The project has no such client as the request names.
    public static let assertionClient = Reason(
        "client_assertion_client_unknown", "The project has no such client as the request names.",
        advice: "Add the client to `oauth_clients` of the project, or map an app to it under `clients`.")
    /// The App Check token in the client assertion is not valid for the client.
    public static let assertionInvalid = Reason(
        "client_assertion_invalid", "The App Check token in the client assertion is not valid for the client.",
        advice: """
            The record's `detail` has the reason of the App Check token, a code of this list: do what is said there.
            """)

    // Attestation results.
    /// The nonce for an attestation result has fewer than 8 or more than 88 characters.
    public static let nonceInvalid = Reason(
        "attestation_result_nonce", "The nonce for an attestation result has fewer than 8 or more than 88 characters.",
        advice: "Let the relying party choose a nonce of 8 to 88 characters.")

    /// Those of client attestations, and of the proofs and challenges that go with them.
    static let ofAttestations =
        [
            attestationMissing, attestationSeveral, attestationMalformed, attestationType, attestationAlgorithm,
            attestationClaim, attestationKey, attestationExpired, attestationTooOld, attestationNotYetValid,
            attestationAttester, attestationSignature, attestationClient, attestationClientUnknown,
            attestationNotBound, proofMissing, proofMethod, proofAudience, proofIssuer,
        ] + proof.all + ofDPoP + ofChallenges
    /// Those of DPoP proofs.
    static let ofDPoP =
        [
            dpopMissing, dpopKey, dpopMethod, dpopTarget, dpopTokenHash, dpopNotAttested, dpopNotBound,
            dpopThumbprintCombined,
        ] + dpop.all
    static let ofChallenges = [challengeMissing, challengeUnknown, challengeExpired]
    /// Those of App Check tokens as client assertions.
    static let ofAssertions = [
        assertionMissing, assertionSeveral, assertionType, assertionPlaceholder, assertionClient, assertionInvalid,
    ]

    /// All of them.
    public static let all =
        [partAbsent, clientUnknown, typeNotOffered, keyMissing, keyUnusable]
        + ofAttestations + ofAssertions + [nonceInvalid]
}

extension FactName {
    /// The OAuth client that a request is about.
    public static let oauthClient: FactName = "oauth_client"
    /// The thumbprint of the client instance's key.
    public static let clientKey = FactName("client_key", .digest)
    /// The attester of a client.
    public static let attester: FactName = "attester"
    /// What a client assertion turned out to be.
    public static let clientAssertion: FactName = "client_assertion"
    /// The result of introspection: `active`, or why the token is not active.
    public static let introspected: FactName = "introspected"
}
