/// Prints the pieces of a text: each on a line of its own stays there, with a new indentation and new spaces between.
struct LayoutPrinter {
    /// How many spaces a level is indented by.
    static let step = 2

    private let bytes: [UInt8]
    private var blocks: ArraySlice<BlockIndentation>
    private var output: [UInt8] = []
    private var frames: [LayoutFrame] = []
    private var waiting = WaitingComments()
    /// The last piece with text that was printed.
    private var previous: LayoutPiece?
    private var isKey = false
    private var expectsValue = false
    /// The indentation of what began last: a line, or a key or item on it that has a bracket.
    private var indentation = 0
    /// Where the line that is being printed starts in the output.
    private var lineStart = 0
    /// The last comment that others below may be aligned with: its line, its old and its new column.
    private var aligned: (line: Int, column: Int, new: Int)?

    private init(_ bytes: [UInt8], _ blocks: [BlockIndentation]) {
        self.bytes = bytes
        self.blocks = blocks[...]
        output.reserveCapacity(bytes.count + bytes.count / 4)
    }

    static func text(of layout: Layout, in bytes: [UInt8]) -> [UInt8] {
        var printer = LayoutPrinter(bytes, layout.blocks)
        for piece in layout.pieces { printer.accept(piece) }
        printer.printWaiting(before: .init(column: 0, indentation: 0))
        // A file of blanks keeps a line: an empty file is no policy.
        if !bytes.isEmpty, !layout.endsWithinText { printer.output.append(UInt8(ascii: "\n")) }
        return printer.output
    }

    private mutating func accept(_ piece: LayoutPiece) {
        switch piece.kind {
        case .mappingStart: open(.mapping, piece.column)
        case .sequenceStart: open(.sequence, piece.column)
        case .blockEnd:
            closeUnindented()
            _ = frames.popLast()
        case .key:
            if frames.last?.isFlow != true {
                closeUnindented()
                isKey = true
            }
        case .comment: comment(piece)
        default: token(piece)
        }
    }

    // MARK: Nesting

    /// The indentation of what the innermost collection holds.
    private var inner: Int { frames.last?.inner ?? 0 }

    private mutating func open(_ kind: LayoutFrame.Kind, _ column: Int) {
        frames.append(LayoutFrame(kind: kind, indentation: inner, column: column))
    }

    private mutating func closeUnindented() {
        if frames.last?.kind == .unindentedSequence { frames.removeLast() }
    }

    private mutating func enter(_ piece: LayoutPiece) {
        guard let frame = frames.last, !frame.isFlow else { return }
        switch piece.kind {
        case .item where frame.kind == .mapping: open(.unindentedSequence, frame.column)
        case .keyMark, .valueMark: closeUnindented()
        default: break
        }
    }

    /// Where a piece is indented to, if it begins a line.
    private func indentation(of piece: LayoutPiece) -> Int {
        guard let frame = frames.last else { return 0 }
        switch piece.kind {
        case .flowEnd: return frame.indentation
        case .item, .keyMark, .valueMark: return frame.isFlow ? frame.inner : frame.indentation
        default: return isKey ? frame.indentation : frame.inner
        }
    }

    private mutating func leave(_ piece: LayoutPiece, isFirst: Bool) {
        switch piece.kind {
        case .flowStart:
            // What a bracket holds is indented from the line of the bracket, or from the key or item on that line.
            if !isFirst, let frame = frames.last, !frame.isFlow {
                indentation = frame.kind == .mapping ? frame.indentation : frame.inner
            }
            frames.append(LayoutFrame(kind: .flow, indentation: indentation, column: piece.column))
        case .flowEnd: _ = frames.popLast()
        default: break
        }
        isKey = false
        // An anchor comes before what it names.
        if piece.kind != .anchor {
            expectsValue = piece.kind == .item || piece.kind == .keyMark || piece.kind == .valueMark
        }
        previous = piece
    }

    // MARK: Printing

    private mutating func token(_ piece: LayoutPiece) {
        enter(piece)
        let own = indentation(of: piece)
        printWaiting(before: .init(column: piece.column, indentation: own))
        let isFirst = previous.map { $0.endLine < piece.line } ?? true
        if isFirst {
            begin(piece, own)
        } else if let previous, LayoutSpacing.isSeparated(previous.kind, piece.kind) {
            append(spaces: 1)
        }
        switch piece.kind {
        case .blockBody: block(piece)
        case .plain, .quoted: text(piece)
        case .directive: output += bytes[piece.bytes].dropLast(while: \.isBlank)
        default: append(piece.bytes)
        }
        leave(piece, isFirst: isFirst)
    }

    private mutating func text(_ piece: LayoutPiece) {
        guard piece.line < piece.endLine else { return append(piece.bytes) }
        let indentation = frames.last.map { $0.isFlow ? $0.inner + Self.step : $0.inner } ?? Self.step
        let isDoubleQuoted = piece.kind == .quoted(UInt8(ascii: "\""))
        for (number, line) in ScalarLines(bytes[piece.bytes], isDoubleQuoted: isDoubleQuoted).enumerated() {
            if number > 0 { breakLine() }
            if number > 0, !line.isEmpty { append(spaces: indentation) }
            output += line
        }
    }

    private mutating func block(_ piece: LayoutPiece) {
        guard let block = blocks.popFirst() else { return }
        let width = block.increment.map { (frames.last?.indentation ?? 0) + $0 } ?? frames.last?.inner ?? Self.step
        for (number, line) in LayoutLines(bytes[piece.bytes]).enumerated() {
            if number > 0 { breakLine() }
            guard line.count > block.width, line.prefix(block.width).allSatisfy({ $0 == UInt8(ascii: " ") }) else {
                continue
            }
            append(spaces: width)
            output += line.dropFirst(block.width)
        }
    }

    private mutating func comment(_ piece: LayoutPiece) {
        guard let last = previous, waiting.isEmpty, last.endLine == piece.line else {
            return waiting.add(piece, in: frames, expectsValue: expectsValue)
        }
        append(spaces: 2)
        aligned = last.kind == .blockHeader ? nil : (piece.line, piece.column, column)
        append(comment: piece)
    }

    private mutating func printWaiting(before next: WaitingComments.Placement) {
        guard !waiting.isEmpty else { return }
        for piece in waiting.comments {
            if let above = aligned, above.line + 1 == piece.line, above.column == piece.column,
                !waiting.isAtNextPiece(piece, next)
            {
                begin(piece, above.new)
                aligned = (piece.line, piece.column, above.new)
            } else {
                begin(piece, waiting.indentation(of: piece, before: next))
            }
            append(comment: piece)
        }
        waiting.removeAll()
    }

    private mutating func append(comment piece: LayoutPiece) {
        let text = CommentText(bytes[piece.bytes])
        output += text.sign
        if text.lacksSpace { append(spaces: 1) }
        output += text.words
        previous = piece
    }

    /// Begins the line of a piece, after an empty line where there was at least one.
    private mutating func begin(_ piece: LayoutPiece, _ indentation: Int) {
        if let previous {
            if piece.line > previous.endLine + 1 { breakLine() }
            breakLine()
        }
        self.indentation = indentation
        if piece.kind != .blockBody { append(spaces: indentation) }
    }

    private mutating func breakLine() {
        output.append(UInt8(ascii: "\n"))
        lineStart = output.count
    }

    private mutating func append(spaces count: Int) {
        for _ in 0..<count { output.append(UInt8(ascii: " ")) }
    }

    private mutating func append(_ range: Range<Int>) {
        // Most tokens are one character.
        if range.count == 1 { output.append(bytes[range.lowerBound]) } else { output += bytes[range] }
    }

    /// The characters of the line so far; counted once for a comment at its end.
    private var column: Int { output[lineStart...].count { !$0.continuesCharacter } }
}
