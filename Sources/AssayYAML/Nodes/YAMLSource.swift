internal import Synchronization

/// The text of one file, kept once and shared by its nodes, for the lines that diagnostics show.
package final class YAMLSource: Sendable {
    package let file: String
    let bytes: [UInt8]
    private let state = Mutex(State())

    private struct State {
        /// The start of each line; computed for the first diagnostic, because valid files need none.
        var lineStarts: [Int]?
        /// The parts that excerpts must not show.
        var concealed: [Range<YAMLPosition>] = []
        /// The parts with names that are known to be about no secret, by their starts.
        var harmless: [YAMLPosition: YAMLPosition] = [:]
    }

    private static let longestLine = 64 << 10

    init(file: String, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
    }

    func location(_ position: YAMLPosition) -> SourceLocation {
        SourceLocation(file: file, line: Int(position.line), column: Int(position.column))
    }

    /// Keeps a part of the text out of every excerpt, also of those for diagnostics that were made before.
    func conceal(_ part: Range<YAMLPosition>) {
        state.withLock { state in
            if !state.concealed.contains(part) { state.concealed.append(part) }
        }
    }

    /// Lets excerpts show a part although the name of a key in it resembles that of a secret.
    func show(_ part: Range<YAMLPosition>) {
        state.withLock { $0.harmless[part.lowerBound] = part.upperBound }
    }

    /// Whether any of a part is kept out of excerpts.
    func conceals(_ part: Range<YAMLPosition>) -> Bool {
        state.withLock { state in state.concealed.contains { $0.overlaps(part) } }
    }

    /// The line at a position without what may be a secret, cut to a window when it is long; nil past the last line, for
    /// lines so long that it would take long to find the place, and when no text was kept.
    func excerpt(at position: YAMLPosition) -> SourceExcerpt? {
        guard !bytes.isEmpty, let line = lineBytes(Int(position.line)), line.count <= Self.longestLine else {
            return nil
        }
        let scalars = Array(String(decoding: line, as: UTF8.self).unicodeScalars)
        let (concealed, harmless) = state.withLock { ($0.concealed, $0.harmless) }
        func columns(_ part: Range<YAMLPosition>) -> Range<Int>? { part.columns(ofLine: position.line, scalars.count) }
        let named = SecretNames.values(in: scalars, except: harmless.compactMap { columns($0.key..<$0.value) })
        return SourceExcerpt(
            line: scalars, caret: Int(position.column) - 1, hiding: concealed.compactMap(columns) + named)
    }

    /// The end of the text on a line, and at least the position itself.
    func endOfLine(at position: YAMLPosition) -> YAMLPosition {
        guard let line = lineBytes(Int(position.line)), line.count <= Self.longestLine else { return position }
        let length = line.count { $0 & 0xC0 != 0x80 }
        return max(position, YAMLPosition(line: position.line, column: UInt32(clamping: length + 1)))
    }

    /// The position of a byte; one past the end counts as on the last line.
    func position(ofByte offset: Int) -> YAMLPosition {
        let line = line(ofByte: offset)
        let column = bytes[line.start..<min(max(line.start, offset), bytes.count)].count { $0 & 0xC0 != 0x80 }
        return YAMLPosition(line: line.number, column: UInt32(clamping: column + 1))
    }

    /// The line that a byte is on, from 1, and the line's first byte.
    func line(ofByte offset: Int) -> (number: UInt32, start: Int) {
        let starts = starts()
        let line = Self.partition(starts) { $0 <= offset }
        return (UInt32(clamping: line), line > 0 ? starts[line - 1] : 0)
    }

    /// The position itself, or the end of the last line for one past it: libyaml places the end of a file that does not
    /// end its last line on the line after.
    func clamped(_ position: YAMLPosition) -> YAMLPosition {
        position.line <= starts().count ? position : self.position(ofByte: bytes.count)
    }

    /// The byte at a position, for messages about a single character.
    func byte(at position: YAMLPosition) -> UInt8? {
        guard let line = lineBytes(Int(position.line)) else { return nil }
        var index = line.startIndex
        for _ in 1..<max(1, position.column) {
            guard index < line.endIndex else { return nil }
            index = Self.next(index, in: line)
        }
        return index < line.endIndex ? line[index] : nil
    }

    /// A line, from 1, without its end; nil past the last.
    func lineBytes(_ number: Int) -> ArraySlice<UInt8>? {
        let starts = starts()
        guard number >= 1, number <= starts.count else { return nil }
        var end = number < starts.count ? starts[number] : bytes.count
        let start = starts[number - 1]
        while end > start, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return bytes[start..<end]
    }

    /// The lines of spaces and tabs, with a tab at least, in order.
    func blankLinesWithTabs() -> [(number: UInt32, bytes: ArraySlice<UInt8>)] {
        (1...max(1, starts().count)).compactMap { number in
            guard let line = lineBytes(number), line.contains(UInt8(ascii: "\t")),
                line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
            else { return nil }
            return (UInt32(clamping: number), line)
        }
    }

    /// How far a block of text is indented, by its first line that is not blank; 0 when its header may say otherwise.
    func blockIndentation(_ block: ClosedRange<UInt32>) -> Int {
        let header = lineBytes(Int(block.lowerBound)) ?? []
        let indicators = header.suffix(
            from: header.lastIndex { $0 == UInt8(ascii: "|") || $0 == UInt8(ascii: ">") } ?? header.endIndex)
        guard !indicators.contains(where: { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }) else { return 0 }
        for number in block.dropFirst() {
            guard let line = lineBytes(Int(number)) else { break }
            let text = line.drop { $0 == UInt8(ascii: " ") }
            if text.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) {
                return line.count - text.count
            }
        }
        return .max
    }

    private static func next(_ index: Int, in line: ArraySlice<UInt8>) -> Int {
        var index = index + 1
        while index < line.endIndex, line[index] & 0xC0 == 0x80 { index += 1 }
        return index
    }

    /// Where each line starts.
    func starts() -> [Int] {
        state.withLock { state in
            if let known = state.lineStarts { return known }
            let starts = Self.lineStarts(of: bytes)
            state.lineStarts = starts
            return starts
        }
    }

    /// Lines end with LF, CR or CR LF.
    ///
    /// libyaml ends some elsewhere, too, and such files are refused (``AmbiguousSyntax``).
    private static func lineStarts(of bytes: [UInt8]) -> [Int] {
        var starts = [0]
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "\n"):
                starts.append(index + 1)
            case UInt8(ascii: "\r"):
                if index + 1 >= bytes.count || bytes[index + 1] != UInt8(ascii: "\n") { starts.append(index + 1) }
            default:
                break
            }
        }
        return starts
    }

    /// How many leading elements satisfy a predicate that no later element satisfies.
    private static func partition(_ sorted: [Int], _ predicate: (Int) -> Bool) -> Int {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(sorted[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Range<YAMLPosition> {
    /// The part of a line, in characters from 0; nil when there is none.
    fileprivate func columns(ofLine line: UInt32, _ length: Int) -> Range<Int>? {
        guard lowerBound.line <= line, line <= upperBound.line else { return nil }
        let start = lowerBound.line < line ? 0 : Swift.min(Int(lowerBound.column) - 1, length)
        let end = upperBound.line > line ? length : Swift.min(Int(upperBound.column) - 1, length)
        return start < end ? start..<end : nil
    }
}
