/// Goes through the members of a JSON object without making values.
///
/// Each byte is looked at once or twice, in memory: lines come from strangers' files, and may be made to be slow.
struct MemberScanner {
    enum Kind: Equatable {
        case text, object, array, other
    }

    struct Member {
        let name: Range<Int>
        let kind: Kind
        /// The value; of text what is between the quotation marks.
        let value: Range<Int>
    }

    // The two loops over single bytes compare with literals instead: a build for debugging calls a function for each name.
    private static let quote: UInt8 = 0x22
    private static let backslash: UInt8 = 0x5C
    private static let comma: UInt8 = 0x2C
    private static let openObject: UInt8 = 0x7B
    private static let openArray: UInt8 = 0x5B
    private static let closeObject: UInt8 = 0x7D

    private let bytes: UnsafeRawBufferPointer
    private var position: Int
    private let end: Int
    /// Whether the object ended where its bytes end.
    private(set) var isClosed = false
    private var isFirst = true

    /// - Parameters:
    ///   - bytes: memory that outlives the scanner.
    ///   - range: where the object is.
    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        position = max(0, range.lowerBound)
        end = min(range.upperBound, bytes.count)
    }

    mutating func open() -> Bool { skip(MemberScanner.openObject) }

    /// The next member; nil at the end, or where the form is another one.
    mutating func next() -> Member? {
        if skip(MemberScanner.closeObject) {
            isClosed = position == end
            return nil
        }
        if !isFirst, !skip(MemberScanner.comma) { return nil }
        isFirst = false
        guard let name = string(), skip(UInt8(ascii: ":")), position < end else { return nil }
        switch bytes[position] {
        case MemberScanner.quote: return string().map { Member(name: name, kind: .text, value: $0) }
        case MemberScanner.openObject: return nested().map { Member(name: name, kind: .object, value: $0) }
        case MemberScanner.openArray: return nested().map { Member(name: name, kind: .array, value: $0) }
        default: return word().map { Member(name: name, kind: .other, value: $0) }
        }
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < end, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// A number or a literal: what is before the next comma or the end of the object.
    private mutating func word() -> Range<Int>? {
        let start = position
        while position < end {
            let byte = bytes[position]
            if byte == 0x2C || byte == 0x7D { break }
            position += 1
        }
        return position > start ? start..<position : nil
    }

    /// What is between quotation marks.
    private mutating func string() -> Range<Int>? {
        guard skip(MemberScanner.quote) else { return nil }
        let start = position
        var quote = find(MemberScanner.quote, to: end)
        while let found = quote {
            guard let escape = find(MemberScanner.backslash, to: found) else {
                position = found + 1
                return start..<found
            }
            position = min(escape + 2, end)
            // The quotation mark was escaped.
            if position > found { quote = find(MemberScanner.quote, to: end) }
        }
        position = end
        return nil
    }

    private func find(_ byte: UInt8, to end: Int) -> Int? {
        ByteSearch.first(byte, in: bytes, from: position, to: end)
    }

    /// An object or an array as a whole.
    private mutating func nested() -> Range<Int>? {
        let start = position
        var depth = 0
        while position < end {
            let byte = bytes[position]
            if byte == 0x22 {
                guard string() != nil else { return nil }
                continue
            }
            position += 1
            // The brackets of arrays differ by one bit from those of objects.
            let bracket = byte | 0x20
            if bracket == 0x7B {
                depth += 1
            } else if bracket == 0x7D {
                depth -= 1
                if depth == 0 { return start..<position }
            }
        }
        return nil
    }
}
