/// Makes text from outside fit for a log line: printable ASCII only, and short.
enum SafeText {
    static func of(_ text: String, limit: Int = 160) -> String {
        var shown = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            shown.unicodeScalars.append((0x20..<0x7F).contains(scalar.value) ? scalar : "?")
        }
        return text.unicodeScalars.count > limit ? shown + "..." : shown
    }
}
