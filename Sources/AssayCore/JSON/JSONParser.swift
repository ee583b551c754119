extension JSON {
    /// Limits of a parser for untrusted input.
    public struct Limits: Sendable {
        /// The largest document, in bytes.
        public var bytes: Int
        /// The deepest nesting of arrays and objects.
        public var depth: Int
        /// The most values in a document, members and elements counted.
        public var values: Int
        /// Whether an object may name a member twice; in JOSE it may not (RFC 7515, section 4).
        public var allowsRepeatedNames: Bool

        /// Makes limits; the defaults suit the body of a request.
        public init(bytes: Int = 65_536, depth: Int = 32, values: Int = 4096, allowsRepeatedNames: Bool = true) {
            self.bytes = bytes
            self.depth = depth
            self.values = values
            self.allowsRepeatedNames = allowsRepeatedNames
        }
    }

    /// Parses exactly one JSON text, as strictly as RFC 8259 is written.
    ///
    /// - Throws: ``JSONError`` for anything that is not JSON in UTF-8, for a byte-order mark, for lone surrogates, for
    ///   numbers that are not a finite double, and for texts that exceed `limits`.
    public static func parse(_ bytes: some Collection<UInt8>, limits: Limits = Limits()) throws(JSONError) -> JSON {
        guard bytes.count <= limits.bytes else {
            throw JSONError(.tooLarge, at: limits.bytes)
        }
        var parser = JSONParser(bytes: Array(bytes), limits: limits)
        return try parser.document()
    }
}

/// Why a text is not the JSON it should be.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of errors; each raw value is the text for people.
    @nonexhaustive public enum Code: String, Sendable {
        case malformed = "not valid JSON"
        case truncated = "the JSON text ends too early"
        case trailing = "something follows the JSON value"
        case invalidText = "a string is not valid Unicode"
        case numberOutOfRange = "a number is out of range"
        case repeatedName = "an object names a member twice"
        case tooLarge = "the JSON text is too large"
        case tooDeep = "the JSON text is nested too deeply"
        case tooManyValues = "the JSON text has too many values"
    }

    /// The kind of the error.
    public let code: Code
    /// The offset of the offending byte.
    public let offset: Int

    init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// The error's text and the offset of the byte, for people.
    public var description: String { "\(code.rawValue) (at byte \(offset))" }
}

/// A recursive-descent parser; the recursion is bounded by the depth limit.
private struct JSONParser {
    let bytes: [UInt8]
    let limits: JSON.Limits
    var position = 0
    var values = 0

    init(bytes: [UInt8], limits: JSON.Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw JSONError(.trailing, at: position) }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        values += 1
        guard values <= limits.values else { throw JSONError(.tooManyValues, at: position) }
        skipSpace()
        switch try peek() {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        guard depth <= limits.depth else { throw JSONError(.tooDeep, at: position) }
        position += 1
        var members: [JSONMember] = []
        var names = SeenNames()
        skipSpace()
        if try peek() == UInt8(ascii: "}") {
            position += 1
            return .object([])
        }
        members.reserveCapacity(4)
        while true {
            skipSpace()
            let start = position
            guard try peek() == UInt8(ascii: "\"") else { throw JSONError(.malformed, at: position) }
            let name = try string()
            if !limits.allowsRepeatedNames, !names.insert(name, after: members) {
                throw JSONError(.repeatedName, at: start)
            }
            skipSpace()
            guard try peek() == UInt8(ascii: ":") else { throw JSONError(.malformed, at: position) }
            position += 1
            members.append(JSONMember(name, try value(depth: depth)))
            if try endsList(with: UInt8(ascii: "}")) { return .object(members) }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        guard depth <= limits.depth else { throw JSONError(.tooDeep, at: position) }
        position += 1
        var elements: [JSON] = []
        skipSpace()
        if try peek() == UInt8(ascii: "]") {
            position += 1
            return .array([])
        }
        while true {
            elements.append(try value(depth: depth))
            if try endsList(with: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    /// Reads a comma or the closing bracket.
    private mutating func endsList(with bracket: UInt8) throws(JSONError) -> Bool {
        skipSpace()
        let next = try peek()
        guard next == UInt8(ascii: ",") || next == bracket else { throw JSONError(.malformed, at: position) }
        position += 1
        return next == bracket
    }

    private mutating func literal(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
        let count = word.utf8CodeUnitCount
        guard bytes.count - position >= count else { throw JSONError(.truncated, at: bytes.count) }
        let matches = word.withUTF8Buffer { bytes[position..<position + count].elementsEqual($0) }
        guard matches else { throw JSONError(.malformed, at: position) }
        position += count
        return value
    }

    private mutating func string() throws(JSONError) -> String {
        let start = position
        position += 1
        var run = plainRun()
        // Nearly all strings are one run without an escape, and are read in place.
        if run.upperBound < bytes.count, bytes[run.upperBound] == UInt8(ascii: "\"") {
            position += 1
            return try text(bytes[run], at: start)
        }
        var content: [UInt8] = []
        while true {
            content += bytes[run]
            switch try peek() {
            case UInt8(ascii: "\""):
                position += 1
                return try text(content[...], at: start)
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &content)
            default:
                throw JSONError(.malformed, at: position)
            }
            run = plainRun()
        }
    }

    /// Skips unescaped characters of a string, up to a quotation mark, an escape or a control character.
    private mutating func plainRun() -> Range<Int> {
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
            position += 1
        }
        return start..<position
    }

    private func text(_ content: ArraySlice<UInt8>, at start: Int) throws(JSONError) -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw JSONError(.invalidText, at: start)
        }
        return text
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        let letter = try peek()
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let start = position
            var code = try hexadecimal()
            if (0xD800..<0xDC00).contains(code) {
                guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
                    bytes[position + 1] == UInt8(ascii: "u")
                else { throw JSONError(.invalidText, at: start) }
                position += 2
                let low = try hexadecimal()
                guard (0xDC00..<0xE000).contains(low) else { throw JSONError(.invalidText, at: start) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw JSONError(.invalidText, at: start) }
            text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default: throw JSONError(.malformed, at: position - 1)
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard bytes.count - position >= 4 else { throw JSONError(.truncated, at: bytes.count) }
        guard let pair = Hex.decode(String(decoding: bytes[position..<position + 4], as: UTF8.self)), pair.count == 2
        else {
            throw JSONError(.malformed, at: position)
        }
        position += 4
        return UInt32(pair[0]) << 8 | UInt32(pair[1])
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = position
        if try peek() == UInt8(ascii: "-") { position += 1 }
        if try peek() == UInt8(ascii: "0") { position += 1 } else { try digits() }
        var isWhole = true
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            position += 1
            let sign = try peek()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard text.utf8.count <= 512, let number = Double(text), number.isFinite else {
            throw JSONError(.numberOutOfRange, at: start)
        }
        return .number(number)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while position < bytes.count, bytes[position].isASCIIDigit {
            position += 1
        }
        guard position > start else {
            throw JSONError(position == bytes.count ? .truncated : .malformed, at: position)
        }
    }

    private func peek() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.truncated, at: bytes.count) }
        return bytes[position]
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }
}

/// The names that an object has had so far.
///
/// Most objects have few members, and comparing these costs less than a set of their names; a hostile object of many
/// gets a set, so that the work does not grow with the square of their number.
struct SeenNames {
    private static let fewest = 16

    private var names: Set<ExactText> = []

    /// Adds a name; false when an earlier member has the same.
    mutating func insert(_ name: String, after members: [JSONMember]) -> Bool {
        if members.count < SeenNames.fewest {
            return !members.contains { $0.name.isExactly(name) }
        }
        if names.isEmpty { names = Set(members.lazy.map { ExactText($0.name) }) }
        return names.insert(ExactText(name)).inserted
    }
}
