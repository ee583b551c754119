internal import AssayCrypto
internal import AssayJWT
public import AssayKit

/// A DPoP proof (RFC 9449): shows that whoever sends a request holds a key, and for which request.
public struct DPoPProof: Sendable {
    /// The key that it brings, and proves.
    public let key: ClientKey
    /// The server's nonce that it answers; nil for none.
    public let nonce: String?
    /// What it is remembered by.
    public let used: UsedProof

    static let type = "dpop+jwt"

    /// Verifies a proof (RFC 9449, section 4.3), but for its nonce and for whether it was used before.
    ///
    /// - Parameters:
    ///   - method: the request's method, as it was sent.
    ///   - accessToken: what the request brings along at a resource server, whose digest `ath` must be; nil elsewhere.
    public static func verify(
        _ text: String, method: String, target: RequestTarget, accessToken: String? = nil, rules: ProofRules,
        now: Instant
    ) throws(ClientRefusal) -> DPoPProof {
        let reasons = OAuthClientReasons.dpop
        func refusal(_ reason: Reason, _ detail: String? = nil) -> ClientRefusal {
            ClientRefusal(reason, .invalidDPoPProof, detail: detail)
        }
        let jwt = try SignedJWT.parse(text, reasons: reasons, code: .invalidDPoPProof)
        guard jwt.type.isExactly(type) else { throw refusal(reasons.type) }
        guard rules.algorithms.contains(jwt.algorithm) else { throw refusal(reasons.algorithm) }
        guard let jwk = jwt.header["jwk"] else { throw refusal(OAuthClientReasons.dpopKey, "there is no `jwk`") }
        let key: ClientKey
        do throws(ClientKey.Problem) {
            key = try ClientKey(jwk: jwk, algorithms: rules.algorithms)
        } catch {
            throw refusal(OAuthClientReasons.dpopKey, error.message)
        }
        let claims = jwt.claims
        guard let id = claims.id, (1...PossessionProof.idLimit).contains(id.utf8.count) else {
            throw refusal(reasons.claim, "jti")
        }
        guard let htm = claims.json["htm"]?.string else { throw refusal(reasons.claim, "htm") }
        guard htm.isExactly(method) else { throw refusal(OAuthClientReasons.dpopMethod) }
        guard let htu = claims.json["htu"]?.string else { throw refusal(reasons.claim, "htu") }
        guard RequestTarget(claim: htu) == target else { throw refusal(OAuthClientReasons.dpopTarget) }
        guard let issued = claims.issued else { throw refusal(reasons.claim, "iat") }
        for start in [issued, claims.notBefore ?? issued] where start > now + rules.skew {
            throw refusal(reasons.notYetValid)
        }
        guard now - issued <= rules.window, claims.expires.map({ now < $0 }) ?? true else {
            throw refusal(reasons.stale)
        }
        if let accessToken {
            guard let hash = claims.json["ath"]?.string else { throw refusal(reasons.claim, "ath") }
            guard ConstantTime.equal(hash.utf8, Base64.encodeURL(SHA256.hash(accessToken.utf8)).utf8) else {
                throw refusal(OAuthClientReasons.dpopTokenHash)
            }
        }
        let nonce = claims.json["nonce"]
        guard nonce == nil || !(nonce?.string).isNil else { throw refusal(reasons.claim, "nonce") }
        do throws(JWSError) {
            try jwt.signed.verify(with: key.publicKey)
        } catch .badSignature {
            throw refusal(reasons.signature)
        } catch {
            throw refusal(reasons.algorithm)
        }
        return DPoPProof(
            key: key, nonce: nonce?.string,
            used: UsedProof(
                kind: "dpop", key: key, id: id, until: issued + rules.window + .milliseconds(1),
                refusal: refusal(reasons.replayed)))
    }
}
