internal import AssayKit

/// Scalars mean what the type that is asked for makes of them; a quoted one is always a string.
extension YAMLNode {
    /// Text, quoted or not; `true`, `false` and `null` count as text only in quotes.
    package func string() throws(YAMLMismatch) -> String {
        guard case .scalar(let text, let isPlain) = content else {
            throw YAMLMismatch(expected: "a string", found: self)
        }
        guard isPlain else { return text }
        if text.isEmpty { throw YAMLMismatch(expected: "a string", found: self) }
        if Self.isReserved(text) {
            throw YAMLMismatch(expected: "a string", found: self, hint: "quote it: \"\(text)\"")
        }
        return text
    }

    /// `true` or `false`, and none of the other spellings that YAML 1.1 knew.
    package func bool() throws(YAMLMismatch) -> Bool {
        guard case .scalar(let text, let isPlain) = content else {
            throw YAMLMismatch(expected: "true or false", found: self)
        }
        if isPlain, text.isExactly("true") { return true }
        if isPlain, text.isExactly("false") { return false }
        let meant: Bool? =
            if ["true", "yes", "on", "y"].contains(where: text.isExactlyIgnoringASCIICase) {
                true
            } else if ["false", "no", "off", "n"].contains(where: text.isExactlyIgnoringASCIICase) {
                false
            } else {
                nil
            }
        throw YAMLMismatch(
            expected: "true or false", found: self, hint: meant.map { "write it as \($0), without quotes" })
    }

    /// A whole number in decimal digits, within the range of its type.
    package func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws(YAMLMismatch) -> Number {
        guard case .scalar(let text, isPlain: true) = content, Self.isDecimal(text) else {
            throw YAMLMismatch(expected: "a whole number", found: self, hint: unquotedNumberHint)
        }
        if Self.hasLeadingZero(text) {
            throw YAMLMismatch(
                expected: "a whole number", found: self, hint: "write it in decimal, without leading zeros")
        }
        guard let number = Number(text) else {
            throw YAMLMismatch(expected: "a whole number from \(Number.min) to \(Number.max)", found: self)
        }
        return number
    }

    /// A finite number in decimal digits, with a fraction or an exponent or without.
    package func double() throws(YAMLMismatch) -> Double {
        guard case .scalar(let text, isPlain: true) = content, Self.looksNumeric(text), let number = Double(text),
            number.isFinite
        else { throw YAMLMismatch(expected: "a number", found: self, hint: unquotedNumberHint) }
        return number
    }

    private var unquotedNumberHint: String? {
        guard case .scalar(let text, isPlain: false) = content, Self.looksNumeric(text) else { return nil }
        return "write it without quotes"
    }

    private static func isReserved(_ text: String) -> Bool {
        guard text.utf8.count <= 5 else { return false }
        if isNull(text) { return true }
        return ["true", "false", "True", "False", "TRUE", "FALSE"].contains(exactly: text)
    }

    private static func isDecimal(_ text: String) -> Bool {
        var digits = text.utf8[...]
        if let sign = digits.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { digits.removeFirst() }
        return !digits.isEmpty && digits.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    private static func hasLeadingZero(_ text: String) -> Bool {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        return digits.count > 1 && digits.first == UInt8(ascii: "0")
    }

    private static func looksNumeric(_ text: String) -> Bool {
        var digits = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): break
            default: return false
            }
        }
        return digits > 0
    }
}
