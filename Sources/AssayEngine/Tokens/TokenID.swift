internal import AssayCore
internal import AssayCrypto

/// The `jti` that a caller wants a limited-use token to have, so that several of its tokens count as one where they are
/// consumed; see ``ChosenTokenID``.
enum RequestedTokenID {
    /// In bytes of UTF-8, as Google's service has it.
    static let length = 16...250

    /// The field `jti`; nil when it is absent or empty, which leaves the choice to the issuer.
    ///
    /// - Throws: when it is of another length, has control characters, or is chosen for a session token, whose `jti` means
    ///   nothing.
    static func read(_ fields: RequestFields, limitedUse: Bool) throws(InvalidRequest) -> String? {
        guard let id = try fields.optionalString("jti") else { return nil }
        guard limitedUse else { throw InvalidRequest("the field 'jti' is only for limited-use tokens") }
        guard length.contains(id.utf8.count) else {
            throw InvalidRequest("the field 'jti' must have \(length.lowerBound) to \(length.upperBound) bytes")
        }
        guard id.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            throw InvalidRequest("the field 'jti' must not have control characters")
        }
        return id
    }
}

/// A `jti` that a caller chose, and whose choice it was.
///
/// Tokens with one `jti` count as one where they are consumed, as with Google's service. A caller must not consume another
/// caller's token by choosing its `jti`. So that holds for the tokens of one chooser only: the token names the chooser in
/// `jti_by`, by a digest that tells readers of the token nothing more.
struct ChosenTokenID: Sendable {
    let id: String
    /// The claim `jti_by`.
    let chooser: String

    /// - Parameters:
    ///   - chooser: who chose it, among those that the provider can tell apart.
    ///   - provider: the token's.
    init(_ id: String, by chooser: String, through provider: String) {
        self.id = id
        let provider = Array(provider.utf8)
        let digest = SHA256.hash(
            UInt64(provider.count).bigEndianBytes[...], provider[...], Array(chooser.utf8)[...])
        self.chooser = Base64.encodeURL(digest.prefix(16))
    }
}
