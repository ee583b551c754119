internal import AssayCore

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
        // YAML takes them for a part of the text, which may be a secret. Who wants that writes the text in quotes.
        if DisplayText.beginsWithCurlyQuote(text) {
            throw YAMLMismatch("expected a string, found one that begins with a curly quote")
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

/// Why a value is not of the type that was asked for.
package struct YAMLMismatch: Error, Sendable {
    package let message: String
    package let hint: String?
    /// The same message without any part of the value.
    let reticent: String

    package init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
        reticent = message
    }

    /// "expected a duration such as 1h, found a sequence".
    init(expected: String, found node: YAMLNode, hint: String? = nil) {
        message = "expected \(expected), found \(node.summary)"
        self.hint = hint
        reticent = "expected \(expected), found \(node.isCollection || node.isNull ? node.summary : "a string")"
    }
}

extension YAMLNode {
    /// The value in a few words, for "found …".
    package var summary: String {
        switch content {
        case .sequence: "a sequence"
        case .mapping: "a mapping"
        case .scalar(let text, isPlain: true) where text.isEmpty: "nothing"
        case .scalar(let text, isPlain: true): DisplayText.quoted(text)
        case .scalar(let text, isPlain: false): "the string \(DisplayText.quoted(text))"
        }
    }
}

extension YAMLNode {
    /// A duration in days, hours, minutes, seconds and milliseconds, largest unit first: `7d`, `1h30m`, `250ms`.
    package func duration() throws(YAMLMismatch) -> Duration {
        guard case .scalar(let text, _) = content, let duration = Self.duration(text) else {
            var hint: String?
            if case .scalar(let text, _) = content {
                let isNumber = (1...9).contains(text.utf8.count) && Int(text) != nil
                hint =
                    isNumber
                    ? "add a unit, such as \(text)s"
                    : DurationText.suggestion(for: text).map { "did you mean `\($0)`?" }
            }
            throw YAMLMismatch(expected: "a duration such as 1h", found: self, hint: hint)
        }
        return duration
    }

    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Nine digits at most for each unit, so that the sum cannot overflow.
    package static func duration(_ text: String) -> Duration? {
        var rest = text.utf8[...]
        var candidates = units[...]
        var milliseconds: Int64 = 0
        guard !rest.isEmpty, rest.count <= 40 else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCIIDigit }
            rest = rest.dropFirst(digits.count)
            let name = rest.prefix { $0.isASCIILowercase }
            rest = rest.dropFirst(name.count)
            guard (1...9).contains(digits.count), let number = Int64(Substring(digits)),
                let unit = candidates.firstIndex(where: { $0.name.utf8.elementsEqual(name) })
            else { return nil }
            milliseconds += number * candidates[unit].milliseconds
            candidates = candidates[(unit + 1)...]
        }
        return .milliseconds(milliseconds)
    }
}
