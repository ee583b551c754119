/// A CBOR data item (RFC 8949, section 3), without regard to how it was encoded.
public enum CBORValue: Sendable, Hashable {
    case unsigned(UInt64)
    /// The negative integer -1 - n, by its n: `negative(0)` is -1.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    /// Pairs in the order of the encoding; the keys of a decoded map differ.
    case map([CBORPair])
    indirect case tag(UInt64, CBORValue)
    case bool(Bool)
    case null
    case undefined
    /// A simple value without a meaning here: 0...19 or 32...255.
    case simple(UInt8)
    /// A floating-point number of any width.
    case float(Double)
}

/// A key of a CBOR map and its value.
public struct CBORPair: Sendable, Hashable {
    public let key: CBORValue
    public let value: CBORValue

    public init(_ key: CBORValue, _ value: CBORValue) {
        self.key = key
        self.value = value
    }
}
