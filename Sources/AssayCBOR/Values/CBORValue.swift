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
    /// The key, which can be of any type.
    public let key: CBORValue
    /// What the map has under the key.
    public let value: CBORValue

    /// A pair of a map; a map keeps its pairs in the order of the input.
    public init(_ key: CBORValue, _ value: CBORValue) {
        self.key = key
        self.value = value
    }
}

extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A text string.
    public init(stringLiteral text: String) {
        self = .text(text)
    }

    /// An integer of either sign.
    public init(integerLiteral number: Int64) {
        self = .integer(number)
    }

    /// The simple value `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}

extension CBORValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// A map with its pairs in this order.
    public init(dictionaryLiteral pairs: (CBORValue, CBORValue)...) {
        self = .map(pairs.map { CBORPair($0.0, $0.1) })
    }

    /// An array.
    public init(arrayLiteral elements: CBORValue...) {
        self = .array(elements)
    }
}
