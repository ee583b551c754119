/// A JSON text of a server, read within bounds (RFC 8259).
enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Sendable {
        let name: String
        let value: JSONValue
    }

    /// The member of an object; nil for other values.
    subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.sameBytes(as: name) }?.value
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// Reads one JSON text; nil for any other text and for one beyond the bounds.
    ///
    /// An object that names a member twice is refused: two readers could each see another value.
    static func read(_ bytes: [UInt8], limit: Int = ClientLimits.reply) -> JSONValue? {
        guard bytes.count <= limit else { return nil }
        var reader = JSONReader(bytes: bytes)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        return reader.position == bytes.count ? value : nil
    }
}

/// What a client reads of a server at most.
enum ClientLimits {
    /// The bytes of a reply.
    static let reply = 65_536
    /// The bytes of a token.
    static let token = 16_384
    /// The bytes of a challenge.
    static let challenge = 4096
    /// The bytes of an artifact.
    static let artifact = 16_384
}

/// A recursive-descent reader, whose recursion is bounded.
private struct JSONReader {
    let bytes: [UInt8]
    var position = 0
    private var values = 0

    private static let depthLimit = 16
    private static let valueLimit = 2048
    private static let memberLimit = 256

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    mutating func value(depth: Int) -> JSONValue? {
        values += 1
        guard values <= Self.valueLimit else { return nil }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return object(depth: depth + 1)
        case UInt8(ascii: "["): return array(depth: depth + 1)
        case UInt8(ascii: "\""): return string().map(JSONValue.string)
        case UInt8(ascii: "t"): return word("true", .bool(true))
        case UInt8(ascii: "f"): return word("false", .bool(false))
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> JSONValue? {
        guard depth <= Self.depthLimit else { return nil }
        position += 1
        var members: [JSONValue.Member] = []
        if closes(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\""), let name = string(), members.count < Self.memberLimit,
                !members.contains(where: { $0.name.sameBytes(as: name) })
            else { return nil }
            skipSpace()
            guard next == UInt8(ascii: ":") else { return nil }
            position += 1
            guard let value = value(depth: depth) else { return nil }
            members.append(JSONValue.Member(name: name, value: value))
            if closes(UInt8(ascii: "}")) { return .object(members) }
            guard next == UInt8(ascii: ",") else { return nil }
            position += 1
        }
    }

    private mutating func array(depth: Int) -> JSONValue? {
        guard depth <= Self.depthLimit else { return nil }
        position += 1
        var elements: [JSONValue] = []
        if closes(UInt8(ascii: "]")) { return .array([]) }
        while true {
            guard let value = value(depth: depth) else { return nil }
            elements.append(value)
            if closes(UInt8(ascii: "]")) { return .array(elements) }
            guard next == UInt8(ascii: ",") else { return nil }
            position += 1
        }
    }

    /// Whether a bracket is next, which is read then.
    private mutating func closes(_ bracket: UInt8) -> Bool {
        skipSpace()
        guard next == bracket else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: String, _ value: JSONValue) -> JSONValue? {
        guard bytes[position...].starts(with: word.utf8) else { return nil }
        position += word.utf8.count
        return value
    }

    private mutating func number() -> JSONValue? {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let first = position
        let count = digits()
        guard count == 1 || count > 1 && bytes[first] != UInt8(ascii: "0") else { return nil }
        var isWhole = true
        if next == UInt8(ascii: ".") {
            position += 1
            isWhole = false
            guard digits() > 0 else { return nil }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            isWhole = false
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            guard digits() > 0 else { return nil }
        }
        guard position - start <= 32 else { return nil }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let whole = Int64(text) { return .integer(whole) }
        return Double(text).flatMap { $0.isFinite ? .number($0) : nil }
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, byte.isDecimal { position += 1 }
        return position - start
    }

    private mutating func string() -> String? {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                let string = String(decoding: text, as: UTF8.self)
                // Invalid UTF-8 would have been replaced.
                return string.utf8.elementsEqual(text) ? string : nil
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += Array(String(Character(scalar)).utf8)
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: return nil
        }
        guard let unit = codeUnit() else { return nil }
        guard (0xD800...0xDBFF).contains(unit) else { return Unicode.Scalar(unit) }
        guard next == UInt8(ascii: "\\") else { return nil }
        position += 1
        guard next == UInt8(ascii: "u") else { return nil }
        position += 1
        guard let low = codeUnit(), (0xDC00...0xDFFF).contains(low) else { return nil }
        return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    }

    private mutating func codeUnit() -> UInt32? {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next?.hexValue else { return nil }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
