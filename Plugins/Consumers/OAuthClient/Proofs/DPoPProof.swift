public import AssayCore
internal import AssayCrypto
internal import AssayVerifier

/// A DPoP proof (RFC 9449): shows that the sender of one request holds a key.
public struct DPoPProof: Sendable {
    /// The key that it brings, and proves.
    public let key: ClientKey
    /// The server's nonce that it answers; nil for none.
    public let nonce: String?
    /// Its entry in the memory of used proofs.
    public let used: UsedProof

    static let type = "dpop+jwt"

    /// Verifies a proof (RFC 9449, section 4.3), except its nonce and whether it was used before.
    ///
    /// - `method`: the request's method, as it was sent.
    /// - `accessToken`: what the request brings along at a resource server, whose digest `ath` must be; nil elsewhere.
    public static func verify(
        _ text: String, method: String, target: TargetURI, accessToken: String? = nil, rules: ProofRules,
        now: Instant
    ) throws(ClientRefusal) -> DPoPProof {
        let reasons = OAuthClientReasons.dpop
        func refusal(_ reason: Reason, _ detail: String? = nil) -> ClientRefusal {
            ClientRefusal(reason, detail: detail)
        }
        let jwt = try SignedJWT.parse(text, reasons: reasons)
        guard jwt.type.isExactly(type) else { throw refusal(reasons.type) }
        guard rules.algorithms.contains(jwt.algorithm) else { throw refusal(reasons.algorithm) }
        guard let jwk = jwt.header["jwk"] else { throw refusal(OAuthClientReasons.dpopKey, "`jwk` is missing") }
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
        guard TargetURI(claim: htu) == target else { throw refusal(OAuthClientReasons.dpopTarget) }
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
                kind: "dpop", key: key, id: id, made: issued - rules.skew, end: UsedProof.end(ofIssued: issued),
                refusal: refusal(reasons.replayed), refusalBeforeState: refusal(reasons.beforeState)))
    }
}

/// A parsed JWT with the whole header, since proofs carry their key in it.
///
/// Nothing in it is trusted yet.
struct SignedJWT: Sendable {
    let signed: CompactJWS
    let claims: JWTClaims
    /// The header, with the members that other JWTs' readers pass over.
    let header: JSON

    /// The errors that are found before its claims are read.
    enum Defect: Error {
        /// Not a JWT, or one with claims of the wrong types; in words for an operator.
        case malformed(String)
        /// An unsupported algorithm, including `none` and those with shared secrets.
        case algorithm
    }

    /// Parses a JWT of up to 16 KiB.
    init(_ text: String) throws(Defect) {
        let bytes = Array(text.utf8)
        do throws(JWSError) {
            signed = try CompactJWS.parse(utf8: bytes[...])
        } catch .unsupportedAlgorithm {
            throw .algorithm
        } catch {
            throw .malformed(error.description)
        }
        let limits = JSON.Limits(bytes: 4096, depth: 8, values: 256, allowsRepeatedNames: false)
        let first = bytes.prefix { $0 != UInt8(ascii: ".") }
        guard let decoded = Base64.decodeURL(utf8: first), let header = try? JSON.parse(decoded, limits: limits) else {
            throw .malformed("the header is not a JSON object")
        }
        self.header = header
        do throws(JWTFault) {
            claims = try JWTClaims(payload: signed.payload)
        } catch {
            throw .malformed("the claims are not a JSON object, or have the wrong types")
        }
    }

    var algorithm: JWSAlgorithm { signed.header.algorithm }
    /// `typ` in lower case; nil when the header does not say.
    var type: String? { signed.header.type?.lowercasedASCII }
}
