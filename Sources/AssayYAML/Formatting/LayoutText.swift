/// Where there is a space between two pieces on one line.
enum LayoutSpacing {
    static func isSeparated(_ left: LayoutPiece.Kind, _ right: LayoutPiece.Kind) -> Bool {
        switch (left, right) {
        // libyaml refuses `{a:,}` and `{a:}`.
        case (.valueMark, _): true
        case (.flowStart, _), (_, .flowEnd), (_, .comma): false
        case (.plain, .valueMark), (.quoted, .valueMark), (.flowEnd, .valueMark): false
        default: true
        }
    }
}

/// The lines of a text, without their ends: LF, CR or CR LF.
struct LayoutLines: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>?

    init(_ text: ArraySlice<UInt8>) {
        rest = text
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard let text = rest else { return nil }
        guard let end = text.firstIndex(where: \.endsLine) else {
            rest = nil
            return text
        }
        let isPair = text[end] == UInt8(ascii: "\r") && end + 1 < text.endIndex && text[end + 1] == UInt8(ascii: "\n")
        rest = text[(end + (isPair ? 2 : 1))...]
        return text[..<end]
    }
}

/// The lines of a text with or without quotes, without the blanks around line ends that have no meaning (YAML 1.2,
/// section 6.5).
struct ScalarLines: Sequence, IteratorProtocol {
    private var lines: LayoutLines
    private let isDoubleQuoted: Bool
    private var line: ArraySlice<UInt8>?
    private var isFirst = true

    init(_ text: ArraySlice<UInt8>, isDoubleQuoted: Bool) {
        lines = LayoutLines(text)
        self.isDoubleQuoted = isDoubleQuoted
        line = lines.next()
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard var result = line else { return nil }
        line = lines.next()
        if !isFirst { result = result.drop(while: \.isBlank) }
        isFirst = false
        return line == nil ? result : withoutBlanks(result)
    }

    /// The line without the blanks at its end, except for one that a backslash makes a part of the text.
    private func withoutBlanks(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let text = line.dropLast(while: \.isBlank)
        guard isDoubleQuoted, text.endIndex < line.endIndex else { return text }
        let backslashes = text.reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        return backslashes.isMultiple(of: 2) ? text : line[..<(text.endIndex + 1)]
    }
}

/// A comment, with a space behind its sign.
struct CommentText {
    /// `#`, or several of them.
    let sign: ArraySlice<UInt8>
    /// What follows, with the blanks before it, without blanks at the end.
    let words: ArraySlice<UInt8>

    init(_ comment: ArraySlice<UInt8>) {
        let text = comment.dropLast(while: \.isBlank)
        sign = text.prefix(1)
        words = text.dropFirst(1)
    }

    /// `#!` begins the first line of a script, and several signs are a line.
    var lacksSpace: Bool {
        guard let first = words.first else { return false }
        return !first.isBlank && first != UInt8(ascii: "#") && first != UInt8(ascii: "!")
    }

    /// Whether both have the same words.
    func isSame(as other: CommentText) -> Bool {
        words.drop { $0 == UInt8(ascii: " ") }.elementsEqual(other.words.drop { $0 == UInt8(ascii: " ") })
    }
}

extension ArraySlice<UInt8> {
    /// The bytes before those at the end that satisfy a predicate.
    func dropLast(while predicate: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        var end = endIndex
        while end > startIndex, predicate(self[end - 1]) { end -= 1 }
        return self[startIndex..<end]
    }
}
