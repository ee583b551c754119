internal import AssayCore
internal import AssayCrypto
internal import AssayVerifier

/// A Client Attestation PoP JWT: proves that a client holds the key of its attestation, to one server.
struct PossessionProof: Sendable {
    /// The challenge that it answers; nil for none.
    let challenge: String?
    let used: UsedProof

    static let type = "oauth-client-attestation-pop+jwt"
    /// The longest `jti`, in bytes.
    static let idLimit = 128

    /// Verifies a proof (draft-ietf-oauth-attestation-based-client-auth-10, verification), except its challenge and
    /// whether it was used before.
    ///
    /// - Parameters:
    ///   - key: the key of the attestation.
    ///   - client: the client's identifier.
    ///   - audience: the issuer identifier of the authorization server, or the identifier of the resource server.
    static func verify(
        _ text: String, key: ClientKey, client: String, audience: String, rules: ProofRules, now: Instant
    ) throws(ClientRefusal) -> PossessionProof {
        let reasons = OAuthClientReasons.proof
        let jwt = try SignedJWT.parse(text, reasons: reasons)
        guard jwt.type.isExactly(type) else { throw ClientRefusal(reasons.type) }
        guard rules.algorithms.contains(jwt.algorithm) else { throw ClientRefusal(reasons.algorithm) }
        let claims = jwt.claims
        guard let id = claims.id, (1...idLimit).contains(id.utf8.count) else {
            throw ClientRefusal(reasons.claim, detail: "jti")
        }
        guard !claims.audience.isEmpty else { throw ClientRefusal(reasons.claim, detail: "aud") }
        guard claims.audience.isExactly([audience]) else { throw ClientRefusal(OAuthClientReasons.proofAudience) }
        if rules.acceptsOlderDrafts, let issuer = claims.issuer, !issuer.isExactly(client) {
            throw ClientRefusal(OAuthClientReasons.proofIssuer)
        }
        let (made, end) = try life(of: claims, rules: rules, now: now)
        let challenge = try challenge(in: claims.json, rules: rules)
        do throws(JWSError) {
            try jwt.signed.verify(with: key.publicKey)
        } catch .badSignature {
            throw ClientRefusal(reasons.signature)
        } catch {
            throw ClientRefusal(reasons.algorithm)
        }
        return PossessionProof(
            challenge: challenge,
            used: UsedProof(
                kind: "pop", key: key, id: id, made: made, end: end, refusal: ClientRefusal(reasons.replayed),
                refusalBeforeState: ClientRefusal(reasons.beforeState)))
    }

    /// When a proof can have been made at the earliest, and until when any policy accepts it; it must be acceptable now.
    ///
    /// Before the seventh draft a proof said when it ends, and not when it was made.
    private static func life(
        of claims: JWTClaims, rules: ProofRules, now: Instant
    ) throws(ClientRefusal) -> (made: Instant, end: Instant) {
        let reasons = OAuthClientReasons.proof
        if let start = claims.notBefore, start > now + rules.skew { throw ClientRefusal(reasons.notYetValid) }
        if let expires = claims.expires, now >= expires { throw ClientRefusal(reasons.stale, detail: "exp") }
        if let issued = claims.issued {
            guard issued <= now + rules.skew else { throw ClientRefusal(reasons.notYetValid) }
            guard now - issued <= rules.window else { throw ClientRefusal(reasons.stale, detail: "iat") }
            return (issued - rules.skew, UsedProof.end(ofIssued: issued))
        }
        guard rules.acceptsOlderDrafts, let expires = claims.expires else {
            throw ClientRefusal(reasons.claim, detail: "iat")
        }
        // How long ago it was made is not known: it may not live longer than a proof is young.
        guard expires - now <= rules.window else { throw ClientRefusal(reasons.stale, detail: "exp is too far away") }
        return (expires - UsedProof.longestWindow, expires)
    }

    private static func challenge(in claims: JSON, rules: ProofRules) throws(ClientRefusal) -> String? {
        for name in rules.acceptsOlderDrafts ? ["challenge", "nonce"] : ["challenge"] {
            guard let value = claims[name] else { continue }
            guard let text = value.string else { throw ClientRefusal(OAuthClientReasons.proof.claim, detail: name) }
            return text
        }
        return nil
    }
}

extension SignedJWT {
    /// Parses a proof, or throws a reason of its kind.
    static func parse(_ text: String, reasons: ProofReasons) throws(ClientRefusal) -> SignedJWT {
        do throws(Defect) {
            return try SignedJWT(text)
        } catch {
            switch error {
            case .malformed(let detail): throw ClientRefusal(reasons.malformed, detail: detail)
            case .algorithm: throw ClientRefusal(reasons.algorithm)
            }
        }
    }
}
