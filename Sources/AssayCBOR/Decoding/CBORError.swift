/// Why bytes are not an acceptable CBOR item.
public struct CBORError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The input ends before the item does, or declares more than it holds.
        case truncated
        /// Bytes follow the item.
        case trailingBytes
        /// A map has a key twice.
        case duplicateKey
        /// Arrays, maps and tags are nested beyond the limit.
        case tooDeep
        /// There are more data items than the limit.
        case tooManyItems
        /// The input is longer than the limit.
        case tooLarge
        /// A text string is not UTF-8.
        case invalidUTF8
        /// A length is indefinite, which the strict profile refuses.
        case indefiniteLength
        /// A number or a length is not written in the fewest bytes, which the strict profile refuses.
        case nonShortestHead
        /// The item is of a type that the strict profile refuses.
        case unsupported
        /// The bytes are not well-formed (RFC 8949, appendix C).
        case malformed
    }

    public let code: Code
    /// Where in the input, in bytes from 0: the beginning of the item that is at fault.
    public let offset: Int

    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    public var description: String { "\(code.rawValue) at byte \(offset)" }
}
