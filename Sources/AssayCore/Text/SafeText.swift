/// Makes text from outside safe for a log line: printable ASCII only, and short.
package enum SafeText {
    package static func of(_ text: String, limit: Int = 160) -> String {
        if text.utf8.count <= limit, text.hasOnly({ (0x20..<0x7F).contains($0) }) { return text }
        var shown = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            shown.unicodeScalars.append((0x20..<0x7F).contains(scalar.value) ? scalar : "?")
        }
        return text.unicodeScalars.count > limit ? shown + "..." : shown
    }

    /// A name that was asked for in vain: enough to recognise it, and too little of a token that was sent in its place.
    package static func asked(_ name: String) -> String {
        of(name, limit: 72)
    }

    /// The same as one value of a `name=value` line: in quotation marks if it has spaces, so that the text cannot add
    /// another field.
    package static func field(_ text: String) -> LogField {
        LogField(of(text))
    }
}
