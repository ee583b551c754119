/// Text from a file made fit to stand in a message: one line, no control characters, not long.
enum DisplayText {
    private static let longest = 60

    /// The text between backticks.
    static func quoted(_ text: String) -> String { "`\(shown(text))`" }

    static func shown(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if result.count == longest {
                result.append("…")
                break
            }
            result.append(isSafe(scalar) ? scalar : "\u{FFFD}")
        }
        return String(result)
    }

    /// A message, which may quote something that was not made fit before: one line that steers no terminal.
    static func line(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(isSafe) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isSafe($0) ? $0 : "\u{FFFD}" }))
    }

    /// Whether a terminal shows the scalar without being steered by it: no controls, no direction overrides.
    static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
