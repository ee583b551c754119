/// The difference between a text and its formatted form, as `diff -u` prints it.
///
/// Formatting moves no line: lines that are not blank are the same ones in the same order, so that no search is needed.
struct UnifiedDiff {
    private enum Change {
        case none(old: Int, new: Int)
        case removed(Int)
        case added(Int)

        var isNone: Bool { if case .none = self { true } else { false } }
    }

    private let old: Lines
    private let new: Lines
    private var changes: [Change] = []

    private static let context = 3

    /// The header and all hunks; nothing for equal texts.
    static func text(from old: [UInt8], to new: [UInt8], file: String) -> [UInt8] {
        guard old != new else { return [] }
        var diff = UnifiedDiff(old, new)
        diff.align()
        return Array("--- \(file)\n+++ \(file)\n".utf8) + diff.hunks()
    }

    private init(_ old: [UInt8], _ new: [UInt8]) {
        self.old = Lines(old)
        self.new = Lines(new)
    }

    // MARK: Which line became which

    private mutating func align() {
        let (oldTexts, newTexts) = (old.texts, new.texts)
        // A file with the line ends of old Macs has one line only.
        guard oldTexts.count == newTexts.count else { return pair(old.ranges.indices, new.ranges.indices) }
        var (nextOld, nextNew) = (0, 0)
        for (oldText, newText) in zip(oldTexts, newTexts) {
            pair(nextOld..<oldText, nextNew..<newText)
            pair(oldText..<(oldText + 1), newText..<(newText + 1))
            (nextOld, nextNew) = (oldText + 1, newText + 1)
        }
        pair(nextOld..<old.ranges.count, nextNew..<new.ranges.count)
    }

    private mutating func pair(_ oldLines: Range<Int>, _ newLines: Range<Int>) {
        for (left, right) in zip(oldLines, newLines) {
            if old[left].elementsEqual(new[right]) {
                changes.append(.none(old: left, new: right))
            } else {
                changes += [.removed(left), .added(right)]
            }
        }
        for line in oldLines.dropFirst(newLines.count) { changes.append(.removed(line)) }
        for line in newLines.dropFirst(oldLines.count) { changes.append(.added(line)) }
    }

    // MARK: Printing

    private func hunks() -> [UInt8] {
        var result: [UInt8] = []
        var (oldLine, newLine, index) = (0, 0, 0)
        while index < changes.count {
            guard let first = changes[index...].firstIndex(where: { !$0.isNone }) else { break }
            let skipped = max(0, first - Self.context - index)
            (oldLine, newLine, index) = (oldLine + skipped, newLine + skipped, index + skipped)
            // A hunk ends where more lines in a row are the same than two contexts have.
            var (end, last) = (first, first)
            while end < changes.count, end - last <= 2 * Self.context {
                if !changes[end].isNone { last = end }
                end += 1
            }
            end = min(changes.count, last + 1 + Self.context)
            let hunk = changes[index..<end]
            let removed = hunk.count { if case .added = $0 { false } else { true } }
            let added = hunk.count { if case .removed = $0 { false } else { true } }
            result += "@@ -\(Self.range(oldLine, removed)) +\(Self.range(newLine, added)) @@\n".utf8
            append(hunk, to: &result)
            (oldLine, newLine, index) = (oldLine + removed, newLine + added, end)
        }
        return result
    }

    private static func range(_ start: Int, _ count: Int) -> String {
        "\(count == 0 ? start : start + 1),\(count)"
    }

    private func append(_ hunk: ArraySlice<Change>, to result: inout [UInt8]) {
        var added: [Int] = []
        for change in hunk {
            switch change {
            case .removed(let line): append("-", old, line, to: &result)
            case .added(let line): added.append(line)
            case .none(let line, _):
                for line in added { append("+", new, line, to: &result) }
                added = []
                append(" ", old, line, to: &result)
            }
        }
        for line in added { append("+", new, line, to: &result) }
    }

    private func append(_ sign: String, _ lines: Lines, _ number: Int, to result: inout [UInt8]) {
        result += sign.utf8
        result += lines[number]
        if lines[number].last != UInt8(ascii: "\n") { result += "\n\\ No newline at end of file\n".utf8 }
    }

    /// The lines of a text with their ends.
    private struct Lines {
        let bytes: [UInt8]
        let ranges: [Range<Int>]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var ranges: [Range<Int>] = []
            var start = 0
            for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
                ranges.append(start..<(index + 1))
                start = index + 1
            }
            if start < bytes.count { ranges.append(start..<bytes.count) }
            self.ranges = ranges
        }

        subscript(number: Int) -> ArraySlice<UInt8> { bytes[ranges[number]] }

        /// The lines that are not blank.
        var texts: [Int] {
            ranges.indices.filter { self[$0].contains { !" \t\r\n".utf8.contains($0) } }
        }
    }
}
