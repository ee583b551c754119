public import AssayCore

/// The part of a source line that a caret points into.
public struct SourceExcerpt: Sendable, Hashable, CustomStringConvertible {
    /// The line, cut to a window around the place when it is long; control characters are replaced, and what may be a
    /// secret is `***`.
    @Exact public private(set) var text: String
    /// How many characters of `text` are before the place.
    public let caret: Int

    private static let windowBefore = 70
    private static let window = 110

    package init(text: String, caret: Int) {
        self.text = text
        self.caret = caret
    }

    /// - Parameters:
    ///   - caret: how many characters of the line are before the place.
    ///   - hidden: parts of the line that are not shown, not even by their lengths.
    init(line: [Unicode.Scalar], caret: Int, hiding hidden: [Range<Int>]) {
        var shown: [Unicode.Scalar] = []
        var shownCaret: Int?
        var isHiding = false
        for (index, scalar) in line.enumerated() {
            if index == caret { shownCaret = isHiding && Self.hides(hidden, index) ? shown.count - 3 : shown.count }
            guard Self.hides(hidden, index) else {
                isHiding = false
                shown.append(scalar == "\t" || DisplayText.isSafe(scalar) ? scalar : "\u{FFFD}")
                continue
            }
            if !isHiding { shown += ["*", "*", "*"] }
            isHiding = true
        }
        let place = shownCaret ?? shown.count + max(0, caret - line.count)
        let first = place > Self.windowBefore + 10 ? min(place - Self.windowBefore, shown.count) : 0
        text = String(String.UnicodeScalarView(shown[first...].prefix(Self.window)))
        self.caret = place - first
    }

    private static func hides(_ hidden: [Range<Int>], _ index: Int) -> Bool {
        hidden.contains { $0.contains(index) }
    }

    /// The line and, below it, the caret; tabs are kept in the padding so that both lines indent alike.
    public var description: String {
        var padding = text.unicodeScalars.prefix(caret).map { $0 == "\t" ? "\t" : " " }.joined()
        let missing = caret - text.unicodeScalars.count
        if missing > 0 { padding += String(repeating: " ", count: missing) }
        return "  | \(text)\n  | \(padding)^"
    }
}
