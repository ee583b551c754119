/// A collection that is open while a text is printed.
struct LayoutFrame {
    enum Kind {
        case mapping
        case sequence
        /// A sequence whose items are not indented under their key; it gets an indentation of its own.
        case unindentedSequence
        case flow
    }

    let kind: Kind
    /// The new indentation: of the keys or dashes, or of the line that the bracket closes on.
    let indentation: Int
    /// The column that the keys or dashes had.
    let column: Int

    /// Where what it holds is indented to, if that begins a line.
    var inner: Int { indentation + LayoutPrinter.step }

    var isFlow: Bool { kind == .flow }
}

/// The comments on lines of their own between two pieces: their indentation depends on what follows.
struct WaitingComments {
    private(set) var comments: [LayoutPiece] = []
    /// What was open where the first of them is.
    private var frames: [LayoutFrame] = []
    private var expectsValue = false

    var isEmpty: Bool { comments.isEmpty }

    mutating func add(_ comment: LayoutPiece, in frames: [LayoutFrame], expectsValue: Bool) {
        if comments.isEmpty {
            self.frames = frames
            self.expectsValue = expectsValue
        }
        comments.append(comment)
    }

    mutating func removeAll() {
        comments.removeAll(keepingCapacity: true)
        frames = []
    }

    /// The indentation of a comment before a piece.
    ///
    /// A comment that is indented less or as the next piece belongs to that; one that is indented more belongs to what
    /// ends before it, such as a mapping whose last entry is commented out.
    func indentation(of comment: LayoutPiece, before next: Placement) -> Int {
        if let frame = frames.last, frame.isFlow { return frame.inner }
        guard comment.column > next.column else { return next.indentation }
        if expectsValue, let frame = frames.last, comment.column > frame.column { return frame.inner }
        return frames.last { $0.column <= comment.column }?.indentation ?? next.indentation
    }

    /// Whether a comment at the column of the next piece belongs to that rather than to the comment above.
    func isAtNextPiece(_ comment: LayoutPiece, _ next: Placement) -> Bool {
        comment.column == next.column && frames.last?.isFlow != true
    }

    /// Where a piece that begins a line was, and where it is printed.
    struct Placement {
        let column: Int
        let indentation: Int
    }
}
