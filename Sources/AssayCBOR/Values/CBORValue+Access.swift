extension CBORValue {
    /// The number of an unsigned integer; nil for any other value.
    public var unsigned: UInt64? {
        if case .unsigned(let number) = self { number } else { nil }
    }

    /// The number of an integer of either sign that fits; nil for any other value.
    public var integer: Int64? {
        switch self {
        case .unsigned(let number): Int64(exactly: number)
        case .negative(let number): Int64(exactly: number).map { -1 - $0 }
        default: nil
        }
    }

    /// The content of a byte string; nil for any other value.
    public var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The content of a text string; nil for any other value.
    public var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The elements of an array; nil for any other value.
    public var array: [CBORValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The pairs of a map; nil for any other value.
    public var map: [CBORPair]? {
        if case .map(let pairs) = self { pairs } else { nil }
    }

    /// The truth value; nil for any other value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The value of a text key of a map; nil when it is missing, or when this is no map.
    public subscript(key: String) -> CBORValue? {
        value(of: .text(key))
    }

    /// The value of an integer key of a map, as in COSE keys (RFC 9052, section 7).
    public subscript(key: Int64) -> CBORValue? {
        value(of: .integer(key))
    }

    /// The value of a key of a map; nil when it is missing, or when this is no map.
    public func value(of key: CBORValue) -> CBORValue? {
        map?.first { $0.key == key }?.value
    }

    /// An integer of either sign.
    public static func integer(_ number: Int64) -> CBORValue {
        number >= 0 ? .unsigned(UInt64(number)) : .negative(UInt64(-1 - number))
    }
}
