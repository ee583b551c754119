/// A text in a log line of `name=value`, quoted so that a reader can restore any value exactly.
///
/// A value of visible characters without spaces, `"`, `=` and `\` is written unchanged. Any other value is written as a
/// JSON string (RFC 8259, section 7): in quotation marks, with the escapes `\"`, `\\`, `\n`, `\r`, `\t`, and with
/// `\u202e` for characters that are invisible or change the direction of the text.
///
/// Use it as logger metadata for values from outside: its description fits a line of `name=value`, and a structured log
/// uses ``text`` unchanged.
package struct LogField: Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { LogField.value(text) }

    /// A value, in quotation marks if it needs them.
    ///
    /// - Parameter limit: about how many bytes are shown; `...` replaces the rest.
    package static func value(_ text: String, limit: Int = .max) -> String {
        if isPlainASCII(text), text.utf8.count <= limit { return text }
        let shown = escaped(text, limit: limit)
        let isPlain = !shown.isEmpty && shown.utf8.allSatisfy { $0 > 0x20 && !isSpecial($0) }
        return isPlain ? shown : "\"\(escaped(text, limit: limit, quote: true))\""
    }

    /// Words that end with the line or before a character that they never contain: with the escapes of
    /// ``value(_:limit:)``, and without quotation marks.
    package static func words(_ text: String, limit: Int = .max) -> String {
        escaped(text, limit: limit)
    }

    /// A name: what no name can have is an underscore.
    package static func name(_ text: String, limit: Int = .max) -> String {
        if isPlainASCII(text), text.utf8.count <= limit { return text }
        var name = ""
        for scalar in text.unicodeScalars {
            guard name.utf8.count < limit else { return "\(name)..." }
            let isPlain = isVisible(scalar) && !(scalar.isASCII && isSpecial(UInt8(scalar.value)))
            name.unicodeScalars.append(isPlain && scalar != " " ? scalar : "_")
        }
        return name.isEmpty ? "_" : name
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "=") || byte == UInt8(ascii: "\\")
    }

    /// Whether a text is written unchanged, as most are: visible ASCII characters without those that are special.
    private static func isPlainASCII(_ text: String) -> Bool {
        !text.isEmpty && text.hasOnly { (0x21..<0x7F).contains($0) && !isSpecial($0) }
    }

    private static func escaped(_ text: String, limit: Int, quote: Bool = false) -> String {
        let isASCII = text.hasOnly { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }
        if isASCII, text.utf8.count <= limit, !quote || !text.utf8.contains(UInt8(ascii: "\"")) { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            guard shown.utf8.count < limit else { return "\(shown)..." }
            switch scalar {
            case "\\": shown += "\\\\"
            case "\"" where quote: shown += "\\\""
            case "\n": shown += "\\n"
            case "\r": shown += "\\r"
            case "\t": shown += "\\t"
            case _ where isVisible(scalar): shown.unicodeScalars.append(scalar)
            default:
                for unit in String(scalar).utf16 {
                    shown += "\\u\(Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)]))"
                }
            }
        }
        return shown
    }

    /// Whether a character is printed as itself and does not change the line.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
            .unassigned:
            false
        default: true
        }
    }
}
