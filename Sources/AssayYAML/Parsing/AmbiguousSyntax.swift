/// What libyaml reads in another way than it looks: it is refused, because the difference would go unnoticed.
struct AmbiguousSyntax {
    private let source: YAMLSource
    /// Where something follows a `?` without a space.
    private let behindQuestionMarks: Set<YAMLPosition>

    init(_ source: YAMLSource) {
        self.source = source
        behindQuestionMarks = Self.behindQuestionMarks(in: source)
    }

    /// Whether what starts at a position follows a `?` that libyaml took as the sign of a key, as in `{?foo: bar}`.
    func isBehindQuestionMark(_ position: YAMLPosition) -> Bool {
        behindQuestionMarks.contains(position)
    }

    /// Where the name of an anchor or alias at a position continues by YAML 1.2 (section 6.9.2), and not by libyaml; nil
    /// where both agree.
    func endOfName(_ name: String, at position: YAMLPosition) -> YAMLPosition? {
        let end = YAMLPosition(
            line: position.line, column: UInt32(clamping: Int(position.column) + 1 + name.utf8.count))
        guard let byte = source.byte(at: end) else { return nil }
        // Behind it comes a blank, the end of the line, or what ends a value in brackets.
        return " \t\r\n,]}".utf8.contains(byte) ? nil : end
    }

    /// The first `- ` that begins a line of a text that goes over these lines, the first line left out.
    func swallowedItem(in lines: ClosedRange<UInt32>) -> YAMLPosition? {
        for number in lines.dropFirst() {
            guard let line = source.lineBytes(Int(number)) else { return nil }
            let rest = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard rest.first == UInt8(ascii: "-") else { continue }
            if let next = rest.dropFirst().first, next != UInt8(ascii: " "), next != UInt8(ascii: "\t") { continue }
            return YAMLPosition(line: number, column: UInt32(clamping: line.count - rest.count + 1))
        }
        return nil
    }

    /// The first NEL, LS or PS: libyaml ends a line there (YAML 1.1, section 5.4), so that what an editor shows as the
    /// rest of a comment is a key.
    static func firstHiddenLineBreak(in text: [UInt8]) -> (offset: Int, name: String, escape: String)? {
        text.withUnsafeBufferPointer { text in
            for (offset, byte) in text.enumerated() where byte == 0xC2 || byte == 0xE2 {
                if byte == 0xC2, offset + 1 < text.count, text[offset + 1] == 0x85 {
                    return (offset, "NEL (U+0085)", "`\\u0085`")
                }
                guard byte == 0xE2, offset + 2 < text.count, text[offset + 1] == 0x80 else { continue }
                if text[offset + 2] == 0xA8 { return (offset, "LS (U+2028)", "`\\u2028`") }
                if text[offset + 2] == 0xA9 { return (offset, "PS (U+2029)", "`\\u2029`") }
            }
            return nil
        }
    }

    private static func behindQuestionMarks(in source: YAMLSource) -> Set<YAMLPosition> {
        var found: Set<YAMLPosition> = []
        source.bytes.withUnsafeBufferPointer { text in
            // A file may be one long line: its columns are counted once.
            var position = YAMLPosition.start
            var counted = 0
            for (offset, byte) in text.enumerated() where byte == UInt8(ascii: "?") {
                let isFirst = offset == 0 || " \t\r\n[{,".utf8.contains(text[offset - 1])
                guard isFirst, offset + 1 < text.count, !" \t\r\n".utf8.contains(text[offset + 1]) else { continue }
                let line = source.line(ofByte: offset)
                if line.number > position.line {
                    position = YAMLPosition(line: line.number, column: 1)
                    counted = line.start
                }
                let characters = text[counted...offset].count { $0 & 0xC0 != 0x80 }
                position = YAMLPosition(line: line.number, column: position.column + UInt32(clamping: characters))
                counted = offset + 1
                found.insert(position)
            }
        }
        return found
    }
}
