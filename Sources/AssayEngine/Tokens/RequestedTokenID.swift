internal import AssayKit

/// The `jti` that a caller wants a limited-use token to have, so that several of its tokens count as one where they are
/// consumed; see ``ChosenTokenID``.
enum RequestedTokenID {
    /// In bytes of UTF-8, as Google's service has it.
    static let length = 16...250

    /// The field `jti`; nil when it is absent or empty, which leaves the choice to the issuer.
    ///
    /// - Throws: when it is of another length, has control characters, or is there for a token that is not for limited
    ///   use, whose `jti` means nothing.
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
