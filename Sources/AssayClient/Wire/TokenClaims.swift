/// What a token says of itself.
///
/// The signature is not verified here: that is for those who receive the token.
enum TokenClaims {
    /// Checks that a token is one of an app, so that a wrong address or a mixed-up cache is found at once.
    ///
    /// - Returns: how long the token lasts by its own words, `exp` less `iat`; nil when it does not say so.
    static func lifetime(of token: String, for app: AppName) throws(AppCheckError) -> Interval? {
        guard let claims = claims(of: token) else {
            throw AppCheckError(
                .malformedReply,
                "The token is no JWT of at most \(ClientLimits.token) bytes. Check that `endpoint` leads to an App "
                    + "Check service, and that a provider of yours returns the token that its exchange gave.")
        }
        guard let subject = claims["sub"]?.text, subject.sameBytes(as: app.id) else {
            throw AppCheckError(
                .foreignToken,
                "The token is of another app than \(app.id). It is not used. Check `app` and the server's address.")
        }
        if let project = app.project {
            let audience = claims["aud"]?.elements?.compactMap(\.text) ?? claims["aud"]?.text.map { [$0] } ?? []
            guard audience.contains(where: { $0.sameBytes(as: "projects/\(project)") }) else {
                throw AppCheckError(
                    .foreignToken,
                    "The token is of another project than \(project). It is not used. Check `app` and the server's "
                        + "address.")
            }
        }
        return lifetime(ofClaims: claims)
    }

    /// How long any JWT lasts by its own words.
    static func lifetime(ofAny token: String) -> Interval? {
        claims(of: token).flatMap(lifetime(ofClaims:))
    }

    /// The key that a token names in its claim `cnf`, as Base 64 of the SHA-256 of `04 ‖ X ‖ Y`, and when the token was
    /// issued, in seconds since 1970; nil when it names none.
    static func namedKey(of token: String) -> (keyID: String, issued: Int64)? {
        guard let claims = claims(of: token), case .integer(let issued)? = claims["iat"], issued >= 0, issued < 1 << 40,
            let jwk = claims["cnf"]?["jwk"], let x = jwk["x"]?.text.flatMap({ Base64Text.decode($0.utf8) }),
            let y = jwk["y"]?.text.flatMap({ Base64Text.decode($0.utf8) }), x.count == 32, y.count == 32
        else { return nil }
        return (Base64Text.encode(SHA256Digest.hash([0x04], x, y)), issued)
    }

    /// Whether text can be put into a header as a token: visible ASCII of bounded length.
    static func isToken(_ text: String) -> Bool {
        (1...ClientLimits.token).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The claims of a JWT; nil for other text.
    static func claims(of token: String) -> JSONValue? {
        guard isToken(token) else { return nil }
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64Text.decode(parts[1]), let claims = JSONValue.read(payload),
            case .object = claims
        else { return nil }
        return claims
    }

    /// `exp` less `iat`.
    static func lifetime(ofClaims claims: JSONValue) -> Interval? {
        guard case .integer(let issued)? = claims["iat"], case .integer(let end)? = claims["exp"] else { return nil }
        let (seconds, overflow) = end.subtractingReportingOverflow(issued)
        return overflow ? nil : .seconds(seconds)
    }
}
