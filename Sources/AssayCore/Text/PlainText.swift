/// Text that a plugin declares, for terminals, logs and pages.
package enum PlainText {
    /// Whether a text is at most so many bytes long, and has nothing that steers a terminal or breaks a line.
    package static func isPlain(_ text: String, limit: Int) -> Bool {
        text.utf8.count <= limit && text.unicodeScalars.allSatisfy(isSafe)
    }

    /// The text in one line, cut to so many characters.
    package static func line(_ text: String, limit: Int = 512) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) { line.append(isSafe(scalar) ? scalar : "\u{FFFD}") }
        return String(line)
    }

    /// Lower-case letters, digits and underscores, as in the names of plugins and facts.
    package static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.utf8.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    }

    /// Lower-case words joined by underscores, such as `challenge_expired`.
    package static func isCode(_ text: String) -> Bool {
        isWord(text) && text.utf8.first?.isASCIILowercase == true
            && text.split(onASCII: "_").allSatisfy { !$0.isEmpty }
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
