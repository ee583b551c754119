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
        let numeral = try numeral("a whole number")
        guard numeral.isWhole else { throw YAMLMismatch(expected: "a whole number", found: self) }
        guard let number = Number(numeral.text) else {
            throw YAMLMismatch(expected: "a whole number from \(Number.min) to \(Number.max)", found: self)
        }
        return number
    }

    /// A finite number in decimal digits, with a fraction or an exponent or without.
    package func double() throws(YAMLMismatch) -> Double {
        guard let number = Double(try numeral("a number").text), number.isFinite else {
            throw YAMLMismatch(expected: "a number", found: self)
        }
        return number
    }

    /// The same, for a type of less range.
    package func float() throws(YAMLMismatch) -> Float {
        let number = Float(try double())
        guard number.isFinite else {
            throw YAMLMismatch(
                expected: "a number from -\(Float.greatestFiniteMagnitude) to \(Float.greatestFiniteMagnitude)",
                found: self)
        }
        return number
    }

    /// The one rule of how numbers are written, whichever type is asked for.
    private func numeral(_ expected: String) throws(YAMLMismatch) -> DecimalNumeral {
        guard case .scalar(let text, let isPlain) = content else { throw YAMLMismatch(expected: expected, found: self) }
        guard let numeral = DecimalNumeral(text) else {
            let hint = isPlain && DecimalNumeral.isOtherwiseNumeric(text) ? "write it in decimal digits alone" : nil
            throw YAMLMismatch(expected: expected, found: self, hint: hint)
        }
        guard isPlain else { throw YAMLMismatch(expected: expected, found: self, hint: "write it without quotes") }
        // YAML 1.1 reads them as octal, other readers as decimal.
        guard !numeral.hasLeadingZero else {
            throw YAMLMismatch(expected: expected, found: self, hint: "write it in decimal, without leading zeros")
        }
        return numeral
    }

    private static func isReserved(_ text: String) -> Bool {
        guard text.utf8.count <= 5 else { return false }
        if isNull(text) { return true }
        return ["true", "false", "True", "False", "TRUE", "FALSE"].contains(exactly: text)
    }
}
