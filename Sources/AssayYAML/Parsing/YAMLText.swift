internal import AssayCore
internal import CLibYAML

/// The text of a file as libyaml is given it: with the same lines and columns, and without the two things that authors
/// write and libyaml does not read.
///
/// - JSON writes characters above U+FFFF as two escapes, the halves of UTF-16 (`\ud83d\ude00`; RFC 8259, section 7).
///   libyaml refuses the halves, so it gets other escapes of the same length instead.
/// - A line of spaces and tabs looks blank, but libyaml refuses it where a tab is not allowed as indentation. It gets
///   an empty line instead.
///
/// Only libyaml can tell where a quoted text or a block of text begins and ends. It is therefore asked once for these
/// places when a file has anything of the kind, and only then.
struct YAMLText {
    /// What libyaml reads.
    private(set) var bytes: [UInt8]
    /// The meanings of quoted texts with surrogates, by their places.
    private(set) var quoted: [YAMLPosition: SurrogateText] = [:]
    /// Lines of spaces and tabs that were emptied, as places in `bytes`.
    private var emptied: [BlankLine] = []

    private struct BlankLine {
        /// From 1.
        let number: UInt32
        /// The offset in `bytes`.
        var offset: Int
        let original: ArraySlice<UInt8>

        /// How many spaces are before the first tab.
        var indentation: Int { original.prefix { $0 == UInt8(ascii: " ") }.count }
    }

    /// An escape of half a character, anywhere in the file.
    private struct Half {
        /// Where the first of its four digits is in `bytes`.
        let offset: Int
        let digit: UInt8
    }

    init(_ source: YAMLSource, _ original: [UInt8]) {
        bytes = original
        guard Self.hasTab(original) || Self.firstHalf(in: original, from: 0) != nil else { return }
        empty(source.blankLinesWithTabs())
        let halves = replaceHalves()
        guard !emptied.isEmpty || !halves.isEmpty else { return }
        // A file that cannot be parsed so cannot be parsed at all: it is refused when its values are read.
        guard let places = Places(bytes, wants: halves.isEmpty ? .blocks : .blocksAndQuoted) else { return }
        restore(halves, outside: places.quoted)
        restoreBlankLines(in: places.blocks, source)
    }

    /// The place in the file of a place in what libyaml reads.
    func originalOffset(of offset: Int) -> Int {
        emptied.reduce(offset) { $1.offset <= offset ? $0 + $1.original.count : $0 }
    }

    // MARK: Blank lines

    private static func hasTab(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { $0.contains(UInt8(ascii: "\t")) }
    }

    private mutating func empty(_ lines: [(number: UInt32, bytes: ArraySlice<UInt8>)]) {
        guard !lines.isEmpty else { return }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var end = 0
        for line in lines {
            result += bytes[end..<line.bytes.startIndex]
            emptied.append(BlankLine(number: line.number, offset: result.count, original: line.bytes))
            end = line.bytes.endIndex
        }
        bytes = result + bytes[end...]
    }

    /// Within a block of text, what follows its indentation belongs to the text.
    private mutating func restoreBlankLines(in blocks: [ClosedRange<UInt32>], _ source: YAMLSource) {
        guard !emptied.isEmpty, !blocks.isEmpty else { return }
        var result: [UInt8] = []
        var kept: [BlankLine] = []
        var end = 0
        var rest = blocks[...]
        for var line in emptied {
            result += bytes[end..<line.offset]
            end = line.offset
            while let block = rest.first, block.upperBound < line.number { rest.removeFirst() }
            if let block = rest.first, block.contains(line.number), line.indentation >= source.blockIndentation(block) {
                result += line.original
            } else {
                line.offset = result.count
                kept.append(line)
            }
        }
        bytes = result + bytes[end...]
        emptied = kept
    }

    // MARK: Halves of characters

    private mutating func replaceHalves() -> [Half] {
        var halves: [Half] = []
        var start = 0
        while let offset = Self.firstHalf(in: bytes, from: start) {
            halves.append(Half(offset: offset, digit: bytes[offset]))
            bytes[offset] = UInt8(ascii: "0")
            start = offset
        }
        return halves
    }

    /// The first digit of an escape such as `\ud83d`.
    private static func firstHalf(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var offset = start
            while offset + 5 < bytes.count {
                if bytes[offset] == UInt8(ascii: "\\"), bytes[offset + 1] == UInt8(ascii: "u"),
                    SurrogateText.code(bytes[(offset + 2)..<(offset + 6)]).map({ $0 >> 11 == 0xD800 >> 11 }) ?? false
                {
                    return offset + 2
                }
                offset += 1
            }
            return nil
        }
    }

    /// Gives back all halves but those in quoted texts, and reads these texts.
    private mutating func restore(_ halves: [Half], outside quoted: [Places.Quoted]) {
        for half in halves { bytes[half.offset] = half.digit }
        var inside: [Half] = []
        var rest = halves[...]
        for text in quoted {
            rest = rest.drop { $0.offset < text.bytes.lowerBound }
            let own = rest.prefix { $0.offset < text.bytes.upperBound }
            guard !own.isEmpty else { continue }
            self.quoted[text.position] = SurrogateText(bytes[text.bytes], from: text.position)
            inside += own
        }
        for half in inside { bytes[half.offset] = UInt8(ascii: "0") }
    }
}

extension YAMLText {
    /// Where a text that libyaml can parse has quoted texts and blocks of text.
    private struct Places {
        enum Wanted {
            case blocks
            case blocksAndQuoted
        }

        struct Quoted {
            let position: YAMLPosition
            let bytes: Range<Int>
        }

        /// Texts in double quotes, in order.
        private(set) var quoted: [Quoted] = []
        /// The lines of blocks of text (`|` and `>`), in order, each from its header on.
        private(set) var blocks: [ClosedRange<UInt32>] = []

        /// Nil for a text that cannot be parsed.
        init?(_ text: [UInt8], wants wanted: Wanted) {
            let isParsed = text.withUnsafeBufferPointer { buffer in
                var cursor = Cursor(buffer)
                do throws(Diagnostics) {
                    let parser = try EventParser(buffer, source: YAMLSource(file: "", bytes: []))
                    while true {
                        let event = try parser.next().pointee
                        if event.type == YAML_STREAM_END_EVENT { return true }
                        guard event.type == YAML_SCALAR_EVENT else { continue }
                        let position = YAMLPosition(event.start_mark)
                        switch event.data.scalar.style {
                        case YAML_DOUBLE_QUOTED_SCALAR_STYLE where wanted == .blocksAndQuoted:
                            let start = cursor.offset(ofCharacter: event.start_mark.index)
                            let end = cursor.offset(ofCharacter: event.end_mark.index)
                            quoted.append(Quoted(position: position, bytes: start..<end))
                        case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE:
                            blocks.append(position.line...max(position.line, YAMLPosition(event.end_mark).line))
                        default:
                            break
                        }
                    }
                } catch {
                    return false
                }
            }
            guard isParsed else { return nil }
        }
    }

    /// Goes from libyaml's marks, which count characters, to bytes.
    private struct Cursor {
        private let bytes: UnsafeBufferPointer<UInt8>
        private var offset = 0
        private var character = 0

        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            self.bytes = bytes
        }

        /// The first byte of a character; characters must be asked for in their order.
        mutating func offset(ofCharacter wanted: Int) -> Int {
            while character < wanted, offset < bytes.count {
                offset += 1
                while offset < bytes.count, bytes[offset] & 0xC0 == 0x80 { offset += 1 }
                character += 1
            }
            return offset
        }
    }
}
