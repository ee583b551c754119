internal import AssayCore

/// A token of Privacy Pass of type 0x0002 (RFC 9577, section 2.2; RFC 9578, section 6.3).
struct PrivateToken: Sendable {
    /// The token type: blind RSA of 2048 bits.
    static let type: [UInt8] = [0x00, 0x02]
    static let keyBits = 2048
    static let byteCount = signedCount + keyBits / 8
    private static let signedCount = 2 + 3 * 32

    /// What makes bytes no token, with both values.
    struct Problem: Error {
        let reason: Reason
        let detail: String
    }

    /// What the issuer signed: all that precedes the signature.
    let signed: ArraySlice<UInt8>
    /// `authenticator`: the signature.
    let authenticator: ArraySlice<UInt8>

    var nonce: ArraySlice<UInt8> { signed.dropFirst(2).prefix(32) }
    var challengeDigest: ArraySlice<UInt8> { signed.dropFirst(34).prefix(32) }
    /// `token_key_id`.
    var keyID: ArraySlice<UInt8> { signed.dropFirst(66).prefix(32) }

    static func read(_ bytes: [UInt8]) -> Result<PrivateToken, Problem> {
        let found = bytes.prefix(2)
        guard found.elementsEqual(type) || found.count < 2 else {
            return .failure(
                Problem(
                    reason: PrivacyPassReasons.type, detail: "0x\(Hex.encode(found)), expected 0x\(Hex.encode(type))"))
        }
        guard bytes.count == byteCount else {
            return .failure(
                Problem(
                    reason: PrivacyPassReasons.malformed, detail: "it has \(bytes.count) bytes, expected \(byteCount)"))
        }
        return .success(PrivateToken(signed: bytes[..<signedCount], authenticator: bytes[signedCount...]))
    }
}

/// The credentials of a request: `PrivateToken token="…"` (RFC 9577, section 2.2).
enum PrivateTokenCredentials: Sendable {
    /// None of this scheme.
    case none
    /// The bytes of the token, which are not looked at.
    case token([UInt8])
    /// Credentials of this scheme that are no token, and why.
    case malformed(String)

    /// The longest value, in bytes: a token has 472 characters.
    static let limit = 1024
    private static let scheme = "privatetoken"
    private static let parameter = "token"

    /// Reads the values of a header or a field; those of other schemes count as none.
    init(_ values: [String]) {
        let own = values.filter { Self.isOfScheme($0) }
        guard let value = own.first else {
            self = .none
            return
        }
        guard own.count == 1 else {
            self = .malformed("\(own.count) tokens, expected one")
            return
        }
        self = Self.read(value)
    }

    /// Whether a value is of the scheme.
    private static func isOfScheme(_ value: String) -> Bool {
        let name = value.utf8.prefix { !isSpace($0) }
        return name.count == scheme.utf8.count
            && String(decoding: name, as: UTF8.self).lowercasedASCII.isExactly(scheme)
    }

    /// The parameter `token` (RFC 9110, section 11.2), quoted or not: Base 64 for URLs, with or without padding.
    ///
    /// Parameters of other names are not looked at.
    private static func read(_ value: String) -> PrivateTokenCredentials {
        guard value.utf8.count <= limit else {
            return .malformed("the credentials have \(value.utf8.count) bytes, expected \(limit) at most")
        }
        var rest = Array(value.utf8)[...].dropFirst(scheme.utf8.count)
        var found: [UInt8]?
        repeat {
            rest = rest.drop(while: isSpace)
            let name = rest.prefix { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
            rest = rest.dropFirst(name.count).drop(while: isSpace)
            guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else {
                return .malformed("expected parameters such as `token=\"…\"`, with commas between them")
            }
            rest = rest.drop(while: isSpace)
            let isQuoted = rest.first == UInt8(ascii: "\"")
            if isQuoted { rest = rest.dropFirst() }
            let text = rest.prefix { isQuoted ? !"\"\\".utf8.contains($0) : !isSpace($0) && !"\",;".utf8.contains($0) }
            rest = rest.dropFirst(text.count)
            guard !isQuoted || rest.popFirst() == UInt8(ascii: "\"") else {
                return .malformed("expected the end of a quoted string without `\\`")
            }
            if String(decoding: name, as: UTF8.self).lowercasedASCII.isExactly(parameter) {
                guard found == nil else { return .malformed("the parameter `token` is repeated") }
                found = Array(text)
            }
            rest = rest.drop(while: isSpace)
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else {
                return .malformed("expected a comma between two parameters")
            }
        } while rest.popFirst() != nil
        guard let found else { return .malformed("expected the parameter `token`") }
        guard !found.contains(where: { "+/".utf8.contains($0) }), let bytes = Base64.decode(utf8: found) else {
            return .malformed("expected Base 64 for URLs")
        }
        return .token(bytes)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
