internal import AssayCore
internal import AssayEngine

/// Finds the members of a JSON object on one line, without making values of those that nobody reads.
///
/// Audit files have millions of lines, of which a few members are read. What is in nested values is not checked, but for its brackets and strings.
struct RecordScanner {
    /// The place of a value in the line.
    enum Value {
        /// The characters between the quotation marks.
        case string(Range<Int>, hasEscapes: Bool)
        /// The whole text of a number, a literal, an array or an object.
        case other(Range<Int>)
    }

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ line: ArraySlice<UInt8>) {
        bytes = line
        position = line.startIndex
    }

    /// Gives each member of the object; false when the line is no object.
    mutating func forEachMember(_ body: (_ name: Range<Int>, Value) -> Void) -> Bool {
        guard skip(UInt8(ascii: "{")) else { return false }
        if skip(UInt8(ascii: "}")) { return isAtEnd }
        while true {
            guard let name = string(), skip(UInt8(ascii: ":")), let value = value() else { return false }
            body(name.range, value)
            if skip(UInt8(ascii: ",")) { continue }
            return skip(UInt8(ascii: "}")) && isAtEnd
        }
    }

    /// The text of a string; nil when it is no text.
    func text(_ value: Value) -> String? {
        guard case .string(let range, let hasEscapes) = value else { return nil }
        guard hasEscapes else { return String(validating: bytes[range], as: UTF8.self) }
        let quoted = bytes[(range.lowerBound - 1)..<(range.upperBound + 1)]
        return (try? JSON.parse(quoted, limits: JSON.Limits(bytes: 1 << 20)))?.string
    }

    /// The bytes of a value that is no string.
    func bytes(_ value: Value) -> ArraySlice<UInt8>? {
        if case .other(let range) = value { bytes[range] } else { nil }
    }

    /// Whether a name is this word.
    func isNamed(_ name: Range<Int>, _ word: StaticString) -> Bool {
        guard name.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { bytes[name].elementsEqual($0) }
    }

    private var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return position == bytes.endIndex
        }
    }

    private mutating func skipSpace() {
        while position < bytes.endIndex, bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t") {
            position += 1
        }
    }

    /// Skips a character behind spaces; false when there is another one.
    private mutating func skip(_ byte: UInt8) -> Bool {
        skipSpace()
        guard position < bytes.endIndex, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func string() -> (range: Range<Int>, hasEscapes: Bool)? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        let start = position
        var hasEscapes = false
        while position < bytes.endIndex {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return (start..<position - 1, hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 2
            case 0..<0x20: return nil
            default: position += 1
            }
        }
        return nil
    }

    private mutating func value() -> Value? {
        skipSpace()
        guard position < bytes.endIndex else { return nil }
        let start = position
        switch bytes[position] {
        case UInt8(ascii: "\""): return string().map { .string($0.range, hasEscapes: $0.hasEscapes) }
        case UInt8(ascii: "{"), UInt8(ascii: "["): return skipNested() ? .other(start..<position) : nil
        default:
            while position < bytes.endIndex, Self.isOfWord(bytes[position]) { position += 1 }
            let word = bytes[start..<position]
            let isNumber = word.first.map { $0 == UInt8(ascii: "-") || $0.isASCIIDigit } ?? false
            let isLiteral = ["true", "false", "null"].contains { $0.utf8.elementsEqual(word) }
            return isNumber || isLiteral ? .other(start..<position) : nil
        }
    }

    /// Skips an array or an object with all that is in it.
    private mutating func skipNested() -> Bool {
        /// The open brackets, the last one in the lowest bit: 1 for objects.
        var (open, depth) = (UInt64(0), 0)
        repeat {
            guard position < bytes.endIndex else { return false }
            switch bytes[position] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < 64 else { return false }
                open = open << 1 | (bytes[position] == UInt8(ascii: "{") ? 1 : 0)
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open & 1 == (bytes[position] == UInt8(ascii: "}") ? 1 : 0) else { return false }
                open >>= 1
                depth -= 1
            case UInt8(ascii: "\""):
                guard string() != nil else { return false }
                continue
            default: break
            }
            position += 1
        } while depth > 0
        return true
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
    }
}
