internal import AssayCore

/// The claims of a token that is spelled as issuers of App Check tokens spell it, read without making a tree of them.
///
/// That is one object with the claims in any order and no other; `provider`, `jti_by`, `state`, `development`, `cnf` and `assay_mark` may
/// be absent. Everything else is left to `JSON`, which may find it just as good: so this reader accepts nothing that the other
/// refuses, and a test holds the two together.
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
        case state = 0x73_7461_7465  // state
        case confirmation = 0x63_6E66  // cnf
    }

    /// What tokens of providers for development have; its name is longer than those of other claims.
    private static let development = Array(#""development":true"#.utf8)
    /// The mark of a rule, which no relying party of ours reads; its name is longer, too.
    private static let mark = Array(#""assay_mark":"#.utf8)
    /// The parts of a key between its three texts, as `ConfirmationKey.claim` writes them.
    private static let key = [
        #"{"jwk":{"kty":"EC","crv":"P-256","x":"#, #","y":"#, #"},"rp_id_hash":"#, "}",
    ].map { Array($0.utf8) }

    /// More than any token has; `JSON` reads tokens with even more.
    private static let mostAudiences = 8

    /// The claims; nil when one is missing or empty, or when something is spelled in another way.
    static func read(_ bytes: Span<UInt8>) -> VerifiedToken? {
        var json = PlainJSON()
        var subject, provider, issuer, id, idChooser, state, mark: String?
        var confirmation: ConfirmationKey?
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
            if json.take(Self.mark, of: bytes) {
                guard json.text(into: &mark, of: bytes) else { return nil }
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
                case .state: json.text(into: &state, of: bytes)
                case .confirmation: read(&confirmation, &json, bytes)
                }
            guard isPlain else { return nil }
        } while json.take(UInt8(ascii: ","), of: bytes)
        guard json.take(UInt8(ascii: "}"), of: bytes), json.position == bytes.count,
            let subject, !subject.isEmpty, let issuer, let audience, let expires, let issued, let id, !id.isEmpty
        else { return nil }
        return VerifiedToken(
            subject: subject, audience: audience, provider: provider, issuer: issuer,
            expires: Instant(seconds: expires), issued: Instant(seconds: issued), id: id, idChooser: idChooser,
            isForDevelopment: isForDevelopment, state: state, confirmation: confirmation)
    }

    /// Reads the key of a device into a variable that must still be nil.
    private static func read(
        _ confirmation: inout ConfirmationKey?, _ json: inout PlainJSON, _ bytes: Span<UInt8>
    ) -> Bool {
        guard confirmation == nil else { return false }
        var parts: [[UInt8]] = []
        parts.reserveCapacity(3)
        for separator in key.dropLast() {
            guard json.take(separator, of: bytes), let part = json.digest(of: bytes) else { return false }
            parts.append(part)
        }
        // In bounds: one for each of the three texts.
        guard json.take(key[3], of: bytes) else { return false }
        confirmation = ConfirmationKey(publicKey: [0x04] + parts[0] + parts[1], relyingPartyHash: parts[2])
        return confirmation != nil
    }
}
