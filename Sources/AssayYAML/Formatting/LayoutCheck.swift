internal import AssayCore

/// Judges whether a formatted text says what the original says.
struct LayoutCheck {
    let original: (bytes: [UInt8], layout: Layout)
    let formatted: (bytes: [UInt8], layout: Layout)

    /// The first piece of the original that is missing or another one in the formatted text; nil when all are there.
    func firstDifference() -> LayoutPiece? {
        let (old, new) = (original.layout.pieces, formatted.layout.pieces)
        var (oldIndex, newIndex) = (Self.firstText(old, from: 0), Self.firstText(new, from: 0))
        var (oldLine, newLine) = (-1, -1)
        while oldIndex < old.count, newIndex < new.count {
            let (left, right) = (old[oldIndex], new[newIndex])
            guard isSame(left, right), (left.line == oldLine) == (right.line == newLine) else { return left }
            (oldLine, newLine) = (left.endLine, right.endLine)
            oldIndex = Self.firstText(old, from: oldIndex + 1)
            newIndex = Self.firstText(new, from: newIndex + 1)
        }
        if oldIndex < old.count { return old[oldIndex] }
        return newIndex < new.count ? old.last ?? new[newIndex] : nil
    }

    /// The first piece with text.
    private static func firstText(_ pieces: [LayoutPiece], from start: Int) -> Int {
        var index = start
        while index < pieces.count, pieces[index].isStructure { index += 1 }
        return index
    }

    /// The values of texts are compared in the trees.
    private func isSame(_ left: LayoutPiece, _ right: LayoutPiece) -> Bool {
        guard left.kind == right.kind else { return false }
        switch left.kind {
        case .comment:
            return CommentText(original.bytes[left.bytes]).isSame(as: CommentText(formatted.bytes[right.bytes]))
        case .anchor, .alias, .documentMark, .blockHeader:
            return original.bytes[left.bytes].elementsEqual(formatted.bytes[right.bytes])
        default: return true
        }
    }

    /// Whether two values are the same: keys, texts, quotes and order.
    static func isSame(_ left: YAMLNode, _ right: YAMLNode) -> Bool {
        switch (left.content, right.content) {
        case (.scalar(let left, let isLeftPlain), .scalar(let right, let isRightPlain)):
            left.isExactly(right) && isLeftPlain == isRightPlain
        case (.sequence(let left), .sequence(let right)):
            left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
        case (.mapping(let left), .mapping(let right)):
            left.count == right.count
                && zip(left, right).allSatisfy { $0.key.isExactly($1.key) && isSame($0.value, $1.value) }
        default: false
        }
    }
}
