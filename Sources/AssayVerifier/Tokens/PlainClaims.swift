internal import AssayCore

/// The claims of a token that is spelled as issuers of App Check tokens spell it, read without making a tree of them.
///
/// That is one object with the eight claims in any order and no other; the last two may be absent, and `"development":true` may be there. Everything else is left to `JSON`, which may find
/// it just as good: so this reader accepts nothing that the other refuses, and a test holds the two together.
enum PlainClaims {
    /// The names of the claims, as numbers of their letters.
    private enum Name: UInt64 {
        case subject = 0x73_7562  // sub
        case audience = 0x61_7564  // aud
        case issuer = 0x69_7373  // iss
        case expires = 0x65_7870  // exp
        case issued = 0x69_6174  // iat
        case id = 0x6A_7469  // jti
        case idChooser = 0x6A74_695F_6279  // jti_by
        case provider = 0x7072_6F76_6964_6572
    }

    /// What tokens of providers for development have; its name is longer than those of other claims.
    private static let development = Array(#""development":true"#.utf8)

    /// More than any token has; `JSON` reads tokens with even more.
    private static let mostAudiences = 8

    /// The claims; nil when one is missing or empty, or when something is spelled in another way.
    static func read(_ bytes: Span<UInt8>) -> VerifiedToken? {
        var json = PlainJSON()
        var subject, provider, issuer, id, idChooser: String?
        var audience: [String]?
        var expires, issued: Int64?
        var isForDevelopment = false
        guard json.take(UInt8(ascii: "{"), of: bytes) else { return nil }
        repeat {
            if json.take(development, of: bytes) {
                guard !isForDevelopment else { return nil }
                isForDevelopment = true
                continue
            }
            guard let name = json.name(of: bytes).flatMap(Name.init), json.take(UInt8(ascii: ":"), of: bytes) else {
                return nil
            }
            let isPlain =
                switch name {
                case .subject: json.text(into: &subject, of: bytes)
                case .audience: json.texts(into: &audience, atMost: mostAudiences, of: bytes)
                case .provider: json.text(into: &provider, of: bytes)
                case .issuer: json.text(into: &issuer, of: bytes)
                case .expires: json.number(into: &expires, of: bytes)
                case .issued: json.number(into: &issued, of: bytes)
                case .id: json.text(into: &id, of: bytes)
                case .idChooser: json.text(into: &idChooser, of: bytes)
                }
            guard isPlain else { return nil }
        } while json.take(UInt8(ascii: ","), of: bytes)
        guard json.take(UInt8(ascii: "}"), of: bytes), json.position == bytes.count,
            let subject, !subject.isEmpty, let issuer, let audience, let expires, let issued, let id, !id.isEmpty
        else { return nil }
        return VerifiedToken(
            subject: subject, audience: audience, provider: provider, issuer: issuer,
            expires: Instant(seconds: expires), issued: Instant(seconds: issued), id: id, idChooser: idChooser,
            isForDevelopment: isForDevelopment)
    }
}
