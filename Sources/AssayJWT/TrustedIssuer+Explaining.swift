public import AssayCore
internal import AssayCrypto

extension TrustedIssuer {
    /// Explains what is wrong with a token that ``verify(_:types:now:)`` refused: its claims and the expected values,
    /// for an operator and not for the sender.
    ///
    /// - Parameters:
    ///   - fault: what ``verify(_:types:now:)`` threw.
    ///   - token: the refused token. Its claims are shown shortened; never the token, and nothing of its signature.
    ///   - now: the time at which it was refused.
    public func explanation(of fault: JWTFault, in token: String, now: Instant) -> String {
        let signed = try? CompactJWS.parse(utf8: Array(token.utf8)[...])
        let claims = signed.flatMap { try? JWTClaims(payload: $0.payload) }
        func shown(_ text: String?) -> String { text.map { "'\(Self.short($0))'" } ?? "missing" }
        switch fault {
        case .malformed: return "it is not a JWT, or a claim has a wrong type"
        case .algorithm:
            return "its algorithm \(shown(signed?.header.algorithm.rawValue)) is not that of the issuer's key"
        case .keyUnknown: return "the issuer has no key for the key identifier \(shown(signed?.header.keyID))"
        case .signature: return "its signature is wrong"
        case .type: return "its 'typ' is \(shown(signed?.header.type))"
        case .issuer: return "its 'iss' is \(shown(claims?.issuer)), expected '\(Self.short(name))'"
        case .audience:
            let audience = (claims?.audience ?? []).prefix(2).map { shown($0) }.joined(separator: ", ")
            return "its 'aud' is \(audience.isEmpty ? "missing" : audience), none of the policy's `audiences`"
        case .expired:
            return "it expired at \(claims?.expires?.description ?? "an unknown time"), and it is \(now)"
        case .notYetValid:
            let start = [claims?.issued, claims?.notBefore].compactMap(\.self).max()
            return "it is not valid before \(start?.description ?? "an unknown time"), and it is \(now)"
        case .lifeTooLong:
            return "it is valid until \(claims?.expires?.description ?? "an unknown time"), longer than may be"
        case .claim(let path):
            if path.isExactly("exp") { return "its 'exp' is missing" }
            if path.isExactly("sub") {
                return "its 'sub' is \(shown(claims?.subject)), none of the policy's `subjects`"
            }
            return "its '\(Self.short(path))' is \(shown(claims?.text(at: path))), not what the policy's `claims` say"
        }
    }

    private static func short(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.count > 60 ? "\(String(String.UnicodeScalarView(scalars.prefix(60))))..." : text
    }
}
