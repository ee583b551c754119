/// Values are equal when their encodings would be: text by its bytes and not by Unicode's canonical equivalence, which
/// would cost a hostile key much to normalize, and floating-point numbers by their bits; all that are not a number are one,
/// as they are encoded.
extension CBORValue {
    /// Whether two values have one encoding.
    public static func == (left: CBORValue, right: CBORValue) -> Bool {
        switch (left, right) {
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.negative(let left), .negative(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        case (.text(let left), .text(let right)): isSame(left, right)
        case (.array(let left), .array(let right)): left == right
        case (.map(let left), .map(let right)): left == right
        case (.tag(let leftNumber, let left), .tag(let rightNumber, let right)):
            leftNumber == rightNumber && left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.null, .null), (.undefined, .undefined): true
        case (.simple(let left), .simple(let right)): left == right
        case (.float(let left), .float(let right)): bits(left) == bits(right)
        default: false
        }
    }

    /// Hashes the value as it is encoded: text by its bytes, numbers by their bits.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .unsigned(let number): combine(0, number, &hasher)
        case .negative(let number): combine(1, number, &hasher)
        case .bytes(let bytes): combine(2, bytes, &hasher)
        case .text(let text):
            hasher.combine(3)
            hasher.combine(text.utf8.count)
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .array(let elements): combine(4, elements, &hasher)
        case .map(let pairs): combine(5, pairs, &hasher)
        case .tag(let number, let content):
            combine(6, number, &hasher)
            hasher.combine(content)
        case .bool(let value): combine(7, value, &hasher)
        case .null: hasher.combine(8)
        case .undefined: hasher.combine(9)
        case .simple(let value): combine(10, value, &hasher)
        case .float(let number): combine(11, Self.bits(number), &hasher)
        }
    }

    private func combine(_ type: UInt8, _ content: some Hashable, _ hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(content)
    }

    private static func bits(_ number: Double) -> UInt64 {
        number.isNaN ? Double.nan.bitPattern : number.bitPattern
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        var left = left
        var right = right
        return left.withUTF8 { left in right.withUTF8 { right in left.elementsEqual(right) } }
    }
}
