/// A part of a YAML text that the formatter places anew: a token, a comment, or the start or end of a collection.
struct LayoutPiece {
    enum Kind: Hashable {
        // Without text: they say how what follows is nested.
        case mappingStart
        case sequenceStart
        case blockEnd
        /// The next piece is a key; before each key without `?`.
        case key

        /// `-`
        case item
        /// `?`
        case keyMark
        /// `:`
        case valueMark
        /// `,`
        case comma
        /// `[` or `{`
        case flowStart
        /// `]` or `}`
        case flowEnd
        /// A text without quotes.
        case plain
        /// A text in single or double quotes.
        case quoted(UInt8)
        /// `&name`
        case anchor
        /// `*name`
        case alias
        /// `%YAML 1.1`
        case directive
        /// `---` or `...`
        case documentMark
        /// `|`, `>` and what follows up to the end of the word, such as `|2-`.
        case blockHeader
        /// The lines of a block of text.
        case blockBody
        case comment
    }

    let kind: Kind
    /// What was written, without the end of the last line.
    let bytes: Range<Int>
    /// The first line, from 0.
    let line: Int
    /// The last line, from 0.
    let endLine: Int
    /// The characters before it on its line.
    let column: Int

    init(_ kind: Kind, bytes: Range<Int>, line: Int, endLine: Int, column: Int) {
        self.kind = kind
        self.bytes = bytes
        self.line = line
        self.endLine = endLine
        self.column = column
    }

    /// Whether nothing was written.
    var isStructure: Bool {
        switch kind {
        case .mappingStart, .sequenceStart, .blockEnd, .key: true
        default: false
        }
    }
}

/// How the lines of a block of text are indented.
struct BlockIndentation {
    /// The spaces before each line that is not blank.
    let width: Int
    /// The digit of the header, which counts from the collection's indentation; nil when the first line tells.
    let increment: Int?
}

/// A text in pieces, in its order.
struct Layout {
    var pieces: [LayoutPiece] = []
    /// How the blocks of text are indented, in their order.
    var blocks: [BlockIndentation] = []
    /// Whether the text ends in a block of text without the end of its last line, which an added one would change.
    var endsWithinText = false
}

extension UInt8 {
    /// A space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
    /// LF or CR.
    var endsLine: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
    /// A byte of a character in UTF-8 that is not its first.
    var continuesCharacter: Bool { self & 0xC0 == 0x80 }
}
