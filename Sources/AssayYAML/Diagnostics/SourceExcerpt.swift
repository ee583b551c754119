/// The part of a source line that a caret points into.
public struct SourceExcerpt: Sendable, Hashable, CustomStringConvertible {
    /// The line, cut to a window around the place when it is long; control characters are replaced.
    public let text: String
    /// How many characters of `text` stand before the place.
    public let caret: Int

    package init(text: String, caret: Int) {
        self.text = text
        self.caret = caret
    }

    /// The line and, below it, the caret; tabs are kept in the padding so that both lines indent alike.
    public var description: String {
        var padding = text.unicodeScalars.prefix(caret).map { $0 == "\t" ? "\t" : " " }.joined()
        let missing = caret - text.unicodeScalars.count
        if missing > 0 { padding += String(repeating: " ", count: missing) }
        return "  | \(text)\n  | \(padding)^"
    }
}
