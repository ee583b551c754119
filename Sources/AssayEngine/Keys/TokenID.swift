internal import AssayCore
internal import AssayCrypto

/// The `jti` that a caller chooses for a limited-use token, so that several of its tokens count as one when they are
/// consumed; see ``ChosenTokenID``.
enum RequestedTokenID {
    /// The length in bytes of UTF-8, as with Google's service.
    static let length = 16...250

    /// The field `jti`; nil when it is absent or empty: then the issuer chooses.
    ///
    /// - Throws: when its length is wrong, when it has control characters, or when it is for a session token, whose
    ///   `jti` has no effect.
    static func read(_ fields: RequestFields, limitedUse: Bool) throws(InvalidRequest) -> String? {
        guard let id = try fields.optionalString("jti") else { return nil }
        guard limitedUse else { throw InvalidRequest("the field 'jti' is only for limited-use tokens") }
        guard length.contains(id.utf8.count) else {
            throw InvalidRequest("the field 'jti' must have \(length.lowerBound) to \(length.upperBound) bytes")
        }
        guard id.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            throw InvalidRequest("the field 'jti' must not contain control characters")
        }
        return id
    }
}

/// A `jti` that a caller chose, together with the caller.
///
/// Tokens with the same `jti` count as one when they are consumed, as with Google's service. A caller must not consume
/// another caller's token by choosing its `jti`, so this holds only for the tokens of one chooser. The token names the
/// chooser in `jti_by`, by a digest, so that it does not say who that is.
package struct ChosenTokenID: Sendable {
    let id: String
    /// The claim `jti_by`.
    let chooser: String

    /// - Parameters:
    ///   - chooser: the caller that chose it, among those that the provider can distinguish.
    ///   - provider: the provider of the token.
    init(_ id: String, by chooser: String, through provider: String) {
        self.id = id
        let provider = Array(provider.utf8)
        let digest = SHA256.hash(
            UInt64(provider.count).bigEndianBytes[...], provider[...], Array(chooser.utf8)[...])
        self.chooser = Base64.encodeURL(digest.prefix(16))
    }
}
