internal import CLibYAML

/// Takes a YAML text apart: tokens by libyaml, and the comments that it passes over.
///
/// libyaml's marks are lines and columns, which are the same in the file and in what libyaml reads (``YAMLText``).
struct LayoutReader {
    /// A place that is no token and neither blank nor a comment, such as a mark of UTF-8 in the middle of a file.
    struct Unreadable: Error {
        let offset: Int
    }

    private let bytes: [UInt8]
    private let starts: [Int]
    private var layout = Layout()
    /// What has no text and belongs to the next piece that has some.
    private var structure: [LayoutPiece] = []
    /// The columns of the block collections that are open.
    private var columns: [Int] = []
    /// The end of the last piece.
    private var end = 0
    private var line = 0
    private var cursor = (line: 0, column: 0, offset: 0)

    private init(_ source: YAMLSource) {
        bytes = source.bytes
        starts = source.starts()
    }

    /// The pieces of a text that ``YAMLDocument`` accepts.
    static func read(_ source: YAMLSource) throws(Unreadable) -> Layout {
        let text = YAMLText(source, source.bytes)
        return try text.bytes.withUnsafeBufferPointer { (buffer) throws(Unreadable) -> Layout in
            var reader = LayoutReader(source)
            guard let parser = TokenParser(buffer) else { throw Unreadable(offset: 0) }
            while let token = parser.next()?.pointee {
                guard try reader.accept(token) else { return reader.layout }
            }
            throw Unreadable(offset: reader.end)
        }
    }

    /// Handles one token; false after the last one.
    private mutating func accept(_ token: yaml_token_t) throws(Unreadable) -> Bool {
        let type = Int(token.type.rawValue)
        guard type >= 0, type < Self.roles.count else { throw Unreadable(offset: end) }
        switch Self.roles[type] {
        case .start: break
        case .end:
            try passGap(to: bytes.count)
            layout.pieces += structure
            return false
        case .opening(let kind):
            columns.append(token.start_mark.column)
            note(kind, token)
        case .closing:
            _ = columns.popLast()
            note(.blockEnd, token)
        case .key where token.start_mark.index == token.end_mark.index: note(.key, token)
        case .key: try add(.keyMark, token)
        case .scalar: try scalar(token)
        case .piece(let kind): try add(kind, token)
        case .refused: throw Unreadable(offset: end)
        }
        return true
    }

    /// What the tokens of a type are to the layout.
    private enum Role {
        case start
        case end
        case opening(LayoutPiece.Kind)
        case closing
        case key
        case scalar
        case piece(LayoutPiece.Kind)
        case refused
    }

    /// The roles by the numbers of libyaml's types.
    private static let roles: [Role] = {
        let roles: [(yaml_token_type_t, Role)] = [
            (YAML_STREAM_START_TOKEN, .start), (YAML_STREAM_END_TOKEN, .end),
            (YAML_BLOCK_MAPPING_START_TOKEN, .opening(.mappingStart)),
            (YAML_BLOCK_SEQUENCE_START_TOKEN, .opening(.sequenceStart)), (YAML_BLOCK_END_TOKEN, .closing),
            (YAML_KEY_TOKEN, .key), (YAML_SCALAR_TOKEN, .scalar), (YAML_BLOCK_ENTRY_TOKEN, .piece(.item)),
            (YAML_VALUE_TOKEN, .piece(.valueMark)), (YAML_FLOW_ENTRY_TOKEN, .piece(.comma)),
            (YAML_FLOW_SEQUENCE_START_TOKEN, .piece(.flowStart)), (YAML_FLOW_MAPPING_START_TOKEN, .piece(.flowStart)),
            (YAML_FLOW_SEQUENCE_END_TOKEN, .piece(.flowEnd)), (YAML_FLOW_MAPPING_END_TOKEN, .piece(.flowEnd)),
            (YAML_ANCHOR_TOKEN, .piece(.anchor)), (YAML_ALIAS_TOKEN, .piece(.alias)),
            (YAML_VERSION_DIRECTIVE_TOKEN, .piece(.directive)), (YAML_TAG_DIRECTIVE_TOKEN, .piece(.directive)),
            (YAML_DOCUMENT_START_TOKEN, .piece(.documentMark)), (YAML_DOCUMENT_END_TOKEN, .piece(.documentMark)),
        ]
        var table: [Role] = []
        for (type, role) in roles {
            let number = Int(type.rawValue)
            while table.count <= number { table.append(.refused) }
            table[number] = role
        }
        return table
    }()

    private mutating func note(_ kind: LayoutPiece.Kind, _ token: yaml_token_t) {
        structure.append(
            LayoutPiece(kind, bytes: end..<end, line: line, endLine: line, column: token.start_mark.column))
    }

    private mutating func add(_ kind: LayoutPiece.Kind, _ token: yaml_token_t) throws(Unreadable) {
        let start = offset(token.start_mark)
        try add(kind, start..<max(start, offset(token.end_mark)), token)
    }

    private mutating func add(
        _ kind: LayoutPiece.Kind, _ range: Range<Int>, _ token: yaml_token_t
    ) throws(Unreadable) {
        try passGap(to: range.lowerBound)
        if !structure.isEmpty {
            layout.pieces += structure
            structure.removeAll(keepingCapacity: true)
        }
        let lastLine = kind == .blockHeader ? token.start_mark.line : max(line, token.end_mark.line)
        layout.pieces.append(
            LayoutPiece(kind, bytes: range, line: line, endLine: lastLine, column: token.start_mark.column))
        end = range.upperBound
        line = lastLine
    }

    private mutating func scalar(_ token: yaml_token_t) throws(Unreadable) {
        switch token.data.scalar.style {
        case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: try block(token)
        case YAML_PLAIN_SCALAR_STYLE: try add(.plain, token)
        default:
            let start = offset(token.start_mark)
            try add(.quoted(start < bytes.count ? bytes[start] : 0), token)
        }
    }

    // MARK: Blocks of text

    private mutating func block(_ token: yaml_token_t) throws(Unreadable) {
        let start = offset(token.start_mark)
        let header = bytes[start...].prefix { !$0.isBlank && !$0.endsLine && $0 != UInt8(ascii: "#") }
        try add(.blockHeader, start..<header.endIndex, token)
        try passGap(to: endOfLine(line))
        let isOpen = token.end_mark.column > 0
        var last = isOpen ? token.end_mark.line : token.end_mark.line - 1
        let first = line + 1
        guard first <= last, last < starts.count else { return }

        let indentation = indentation(of: header, lines: first...last)
        if !header.contains(UInt8(ascii: "+")) {
            while last >= first, isEmpty(last, indentation.width) { last -= 1 }
            guard first <= last else { return }
        }
        layout.endsWithinText =
            isOpen && last == token.end_mark.line && !header.contains(UInt8(ascii: "-"))
        let body = starts[first]..<endOfLine(last)
        layout.pieces.append(LayoutPiece(.blockBody, bytes: body, line: first, endLine: last, column: 0))
        layout.blocks.append(indentation)
        end = body.upperBound
        line = last
    }

    private func indentation(of header: ArraySlice<UInt8>, lines: ClosedRange<Int>) -> BlockIndentation {
        if let digit = header.first(where: { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }) {
            let increment = Int(digit - UInt8(ascii: "0"))
            return BlockIndentation(width: (columns.last ?? 0) + increment, increment: increment)
        }
        for number in lines {
            let text = bytes[starts[number]..<endOfLine(number)]
            if text.contains(where: { !$0.isBlank }) {
                return BlockIndentation(width: text.prefix { $0 == UInt8(ascii: " ") }.count, increment: nil)
            }
        }
        return BlockIndentation(width: .max, increment: nil)
    }

    /// Whether a line of a block of text is an empty line of it.
    private func isEmpty(_ number: Int, _ indentation: Int) -> Bool {
        let text = bytes[starts[number]..<endOfLine(number)]
        return text.count <= indentation || text.prefix(indentation).contains { $0 != UInt8(ascii: " ") }
    }

    // MARK: Between tokens

    /// Adds the comments between the last piece and an offset.
    private mutating func passGap(to start: Int) throws(Unreadable) {
        while end < start {
            switch bytes[end] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                end += 1
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                line += 1
                guard line < starts.count else { throw Unreadable(offset: end) }
                end = starts[line]
            case UInt8(ascii: "#"):
                let last = endOfLine(line)
                guard last <= start else { throw Unreadable(offset: end) }
                let column = bytes[starts[line]..<end].count { !$0.continuesCharacter }
                layout.pieces.append(
                    LayoutPiece(.comment, bytes: end..<last, line: line, endLine: line, column: column))
                end = last
            default:
                throw Unreadable(offset: end)
            }
        }
        guard end == start else { throw Unreadable(offset: start) }
    }

    private func endOfLine(_ number: Int) -> Int {
        var end = number + 1 < starts.count ? starts[number + 1] : bytes.count
        while end > starts[number], bytes[end - 1].endsLine { end -= 1 }
        return end
    }

    /// The first byte of what libyaml puts a mark at; marks come in the order of the text, so that each line is counted
    /// once.
    private mutating func offset(_ mark: yaml_mark_t) -> Int {
        guard mark.line < starts.count else { return bytes.count }
        if mark.line != cursor.line || mark.column < cursor.column { cursor = (mark.line, 0, starts[mark.line]) }
        while cursor.column < mark.column, cursor.offset < bytes.count {
            cursor.offset += 1
            while cursor.offset < bytes.count, bytes[cursor.offset].continuesCharacter { cursor.offset += 1 }
            cursor.column += 1
        }
        return cursor.offset
    }
}
