extension CBORValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A text string.
    public init(stringLiteral text: String) {
        self = .text(text)
    }

    /// An integer of either sign.
    public init(integerLiteral number: Int64) {
        self = .integer(number)
    }

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
