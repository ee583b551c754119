public import AssayCore
internal import AssayCrypto

extension JWTExpectation {
    /// Explains what is wrong with a token that was refused: its claims and the expected values, for an operator and not
    /// for the sender.
    ///
    /// - Parameters:
    ///   - fault: why it was refused.
    ///   - token: the refused token. Its claims are shown shortened; never the token, and nothing of its signature.
    ///   - now: the time at which it was refused.
    public func explanation(of fault: JWTFault, in token: UnverifiedJWT, now: Instant) -> String {
        let (header, claims) = (token.header, token.claims)
        switch fault {
        case .malformed: return "it is not a JWT, or a claim has a wrong type"
        case .algorithm: return "its algorithm '\(header.algorithm.rawValue)' is not that of the issuer's key"
        case .keyUnknown where header.keyID.isNil:
            return "it has no `kid`, and the issuer has more than \(KeyTable.limit) keys of its algorithm, or none"
        case .keyUnknown: return "the issuer has no key for the key identifier \(Self.shown(header.keyID))"
        case .signature: return "its signature is wrong"
        case .type: return "its 'typ' is \(Self.shown(header.type))"
        case .issuer: return "its 'iss' is \(Self.shown(claims.issuer)), expected \(Self.shown(issuer))"
        case .audience:
            let expected = audiences.map(\.string).sortedExactly()
            return "its 'aud' is \(Self.shown(claims.audience, "and")), expected \(Self.shown(expected, "or"))"
        case .expired:
            return "it expired at \(claims.expires?.description ?? "an unknown time"), and it is \(now)"
        case .notYetValid:
            let start = [claims.issued, claims.notBefore].compactMap(\.self).max()
            return "it is not valid before \(start?.description ?? "an unknown time"), and it is \(now)"
        case .lifeTooLong:
            return "it is valid until \(claims.expires?.description ?? "an unknown time"), longer than may be"
        case .claim(let path):
            if path.isExactly("exp") || path.isExactly("iat") { return "its '\(path)' is missing" }
            if path.isExactly("sub") {
                return "its 'sub' is \(Self.shown(claims.subject)), none of the policy's `subjects`"
            }
            return
                "its '\(UnverifiedJWT.shortened(path))' is \(Self.shown(claims.text(at: path))), not what the policy's `claims` say"
        }
    }

    private static func shown(_ text: String?) -> String { UnverifiedJWT.shown(text) }
    private static func shown(_ texts: [String], _ word: String) -> String { UnverifiedJWT.shown(texts, word) }
}

extension UnverifiedJWT {
    /// Explains that none of the known issuers has the token's `iss`, for an operator.
    ///
    /// - Parameter expected: the known issuers.
    public func explanationOfIssuer(expected: [String]) -> String {
        "its 'iss' is \(Self.shown(claims.issuer)), expected \(Self.shown(expected.sortedExactly(), "or"))"
    }

    /// The beginning of a claim, for an explanation.
    public static func shortened(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.count > 100 ? "\(String(String.UnicodeScalarView(scalars.prefix(100))))..." : text
    }

    fileprivate static func shown(_ text: String?) -> String { text.map { "'\(shortened($0))'" } ?? "missing" }

    /// The first of several texts, and how many there are.
    fileprivate static func shown(_ texts: [String], _ word: String) -> String {
        guard !texts.isEmpty else { return "missing" }
        let named = texts.prefix(2).map { shown($0) }
        guard texts.count > named.count else { return named.joined(separator: " \(word) ") }
        return "\(named.joined(separator: ", ")) \(word) \(texts.count - named.count) more"
    }
}
