internal import AssayCore

/// A number as policies write it: decimal digits with a sign, a fraction and an exponent or without (YAML 1.2, section
/// 10.3.2, without its other bases).
struct DecimalNumeral {
    @Exact private(set) var text: String
    /// Whether it has neither a fraction nor an exponent.
    let isWhole: Bool
    /// Whether a zero precedes further digits, so that other readers may take the number as octal.
    let hasLeadingZero: Bool

    /// Nil for text that is not such a number.
    init?(_ text: String) {
        var rest = text.utf8[...]
        func digits() -> Int {
            let found = rest.prefix(while: \.isASCIIDigit)
            rest = rest.dropFirst(found.count)
            return found.count
        }
        func skip(_ any: UInt8...) -> Bool {
            guard let first = rest.first, any.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = skip(UInt8(ascii: "+"), UInt8(ascii: "-"))
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        let hasPoint = skip(UInt8(ascii: "."))
        let fraction = hasPoint ? digits() : 0
        guard whole + fraction > 0 else { return nil }
        let hasExponent = skip(UInt8(ascii: "e"), UInt8(ascii: "E"))
        if hasExponent {
            _ = skip(UInt8(ascii: "+"), UInt8(ascii: "-"))
            guard digits() > 0 else { return nil }
        }
        guard rest.isEmpty else { return nil }
        self.text = text
        isWhole = !hasPoint && !hasExponent
        hasLeadingZero = startsWithZero && whole > 1
    }

    /// Whether the text is a number in one of YAML's other ways: `0x1F`, `0o17`, `0b11`, `1_000`.
    static func isOtherwiseNumeric(_ text: String) -> Bool {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        guard let first = rest.first, first.isASCIIDigit else { return false }
        let prefix = rest.dropFirst().first
        if first == UInt8(ascii: "0"), let prefix, [UInt8](arrayLiteral: 0x78, 0x6F, 0x62).contains(prefix | 0x20) {
            rest = rest.dropFirst(2)
            return !rest.isEmpty && rest.allSatisfy { $0.hexDigitValue != nil || $0 == UInt8(ascii: "_") }
        }
        return rest.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    }
}
