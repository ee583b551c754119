/// Decodes untrusted CBOR (RFC 8949) within limits.
///
/// Nothing is allocated for a length that the input merely declares, and the nesting of the input costs no recursion.
public struct CBORDecoder: Sendable {
    /// What decoding one item may cost.
    public let limits: CBORLimits
    /// Which of CBOR's forms are accepted.
    public let profile: CBORProfile

    /// A decoder; without arguments, the one for evidence.
    public init(limits: CBORLimits = .evidence, profile: CBORProfile = .strict) {
        self.limits = limits
        self.profile = profile
    }

    /// The one item that the bytes hold.
    public func decode(_ bytes: [UInt8]) throws(CBORError) -> CBORValue {
        let (value, count) = try decodeFirst(bytes[...])
        guard count == bytes.count else { throw CBORError(.trailingBytes, at: count) }
        return value
    }

    /// The first item in the bytes, and how many bytes it takes; what follows is not looked at.
    ///
    /// Offsets in errors count from the beginning of the slice.
    public func decodeFirst(_ bytes: ArraySlice<UInt8>) throws(CBORError) -> (value: CBORValue, count: Int) {
        guard bytes.count <= limits.bytes else { throw CBORError(.tooLarge, at: limits.bytes) }
        return try bytes.withUnsafeBufferPointer { (input) throws(CBORError) in
            var scanner = TokenScanner(input, isStrict: profile == .strict)
            var builder = ValueBuilder(limits: limits)
            while true {
                let offset = scanner.offset
                let token = try scanner.next()
                if let value = try builder.accept(token, at: offset, remaining: scanner.remaining) {
                    return (value, scanner.offset)
                }
            }
        }
    }
}

/// Which encodings are accepted.
@nonexhaustive public enum CBORProfile: Sendable, Hashable {
    /// Definite lengths and shortest heads, no tags, no floating point, no simple values beyond booleans and null; the
    /// keys of a map in any order. Most of RFC 8949, section 4.2.1, without the sorting that App Attest does not keep.
    case strict
    /// Everything well-formed with distinct keys and text that is UTF-8 (RFC 8949, section 5.3.1); what a tag means for its
    /// content is not checked.
    case generic
}

/// What decoding one item may cost.
public struct CBORLimits: Sendable, Hashable {
    /// The longest input, in bytes.
    public var bytes: Int
    /// The deepest nesting of arrays, maps and tags; never more than ``greatestDepth``, whatever is asked for.
    public var depth: Int { didSet { depth = min(depth, Self.greatestDepth) } }
    /// The most data items: each array, map, tag, key and element counts, and each chunk of a string.
    public var items: Int

    /// Values are compared and freed recursively, so that no limit goes beyond this.
    public static let greatestDepth = 256

    /// Limits in bytes, levels of nesting (256 at most, whatever is given) and data items.
    public init(bytes: Int, depth: Int, items: Int) {
        self.bytes = bytes
        self.depth = min(depth, Self.greatestDepth)
        self.items = items
    }

    /// For evidence that a device sends: 64 KiB, 8 levels, 256 items.
    public static let evidence = CBORLimits(bytes: 64 << 10, depth: 8, items: 256)
    /// For other input: 1 MiB, 64 levels, 65,536 items.
    public static let generic = CBORLimits(bytes: 1 << 20, depth: 64, items: 1 << 16)
}

/// Why bytes are not an acceptable CBOR item.
public struct CBORError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with the bytes.
    @nonexhaustive public enum Code: String, Sendable, Hashable, CaseIterable {
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

    /// What is wrong.
    public let code: Code
    /// Where in the input, in bytes from 0: the beginning of the item that is at fault.
    public let offset: Int

    /// An error about the item that begins at an offset, in bytes from 0.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// The code and the offset, for logs: `truncated at byte 12`.
    public var description: String { "\(code.rawValue) at byte \(offset)" }
}
