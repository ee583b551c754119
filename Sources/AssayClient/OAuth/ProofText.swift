/// The proofs that an instance holds its key: JWTs for one request, signed with `ES256`.
enum ProofText {
    /// A proof of possession for a client attestation (draft-ietf-oauth-attestation-based-client-auth-10).
    ///
    /// - Parameter audience: the issuer identifier of the authorization server.
    static func possession(
        audience: String, challenge: String?, at unixSeconds: Int64, by key: any InstanceKey
    ) throws(AppCheckError) -> String {
        var claims: [(String, BodyValue)] = [
            ("aud", .text(audience)), ("jti", .text(newID())), ("iat", .integer(unixSeconds)),
        ]
        if let challenge { claims.append(("challenge", .text(challenge))) }
        let header = JSONText.object([("typ", "oauth-client-attestation-pop+jwt"), ("alg", "ES256")])
        return try sign(header, JSONText.object(claims), by: key)
    }

    /// A DPoP proof (RFC 9449, section 4.2).
    ///
    /// - Parameters:
    ///   - method: the request's method, as it is sent.
    ///   - url: the request's URL; the query is left out.
    ///   - accessToken: what the request brings along to a resource server.
    static func dpop(
        method: String, url: ServerAddress, accessToken: String?, nonce: String?, at unixSeconds: Int64,
        by held: InstanceKeyHolder.Stored
    ) throws(AppCheckError) -> String {
        let target = String(decoding: url.text.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        var claims: [(String, BodyValue)] = [
            ("htm", .text(method)), ("htu", .text(target)), ("jti", .text(newID())), ("iat", .integer(unixSeconds)),
        ]
        if let accessToken {
            claims.append(("ath", .text(Base64Text.encodeURL(SHA256Digest.hash(Array(accessToken.utf8))))))
        }
        if let nonce { claims.append(("nonce", .text(nonce))) }
        let header = object([("typ", "dpop+jwt"), ("alg", "ES256")], with: "jwk", held.jwk.json)
        return try sign(header, JSONText.object(claims), by: held.key)
    }

    /// An object of JSON whose last member is an object.
    static func object(_ members: [(String, BodyValue)], with name: String, _ object: [UInt8]) -> [UInt8] {
        let separator = members.isEmpty ? "" : ","
        return Array(JSONText.object(members).dropLast()) + Array("\(separator)\"\(name)\":".utf8) + object
            + [UInt8(ascii: "}")]
    }

    /// 128 random bits.
    private static func newID() -> String {
        Base64Text.encodeURL((0..<16).map { _ in UInt8.random(in: 0 ... .max) })
    }

    private static func sign(
        _ header: [UInt8], _ claims: [UInt8], by key: any InstanceKey
    ) throws(AppCheckError) -> String {
        let input = "\(Base64Text.encodeURL(header)).\(Base64Text.encodeURL(claims))"
        let signature: [UInt8]
        do {
            signature = try key.sign(Array(input.utf8))
        } catch {
            throw AppCheckError(
                .deviceFailed,
                "The device could not sign with the key of the OAuth client. If this lasts, sign in anew.",
                cause: error)
        }
        guard signature.count == 64 else {
            throw AppCheckError(.deviceFailed, "The key of the OAuth client makes signatures that are not of ES256.")
        }
        return "\(input).\(Base64Text.encodeURL(signature))"
    }
}
