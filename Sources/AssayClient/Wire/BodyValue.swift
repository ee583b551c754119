/// A value in the body of a request: text, a truth value, bytes in Base 64, a number, or a list of values.
public enum BodyValue: Sendable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    case text(String)
    case bool(Bool)
    case bytes([UInt8])
    case integer(Int64)
    case list([BodyValue])

    /// Text that stands in the code.
    public init(stringLiteral value: String) { self = .text(value) }
    /// A truth value that stands in the code.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// Writes an object of JSON.
enum JSONText {
    static func object(_ members: [(name: String, value: BodyValue)]) -> [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        for (index, member) in members.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            string(member.name, into: &text)
            text.append(UInt8(ascii: ":"))
            write(member.value, into: &text)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func write(_ value: BodyValue, into text: inout [UInt8]) {
        switch value {
        case .text(let value): string(value, into: &text)
        case .bytes(let value): string(Base64Text.encode(value), into: &text)
        case .bool(let value): text += Array((value ? "true" : "false").utf8)
        case .integer(let value): text += Array(String(value).utf8)
        case .list(let values):
            text.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                write(value, into: &text)
            }
            text.append(UInt8(ascii: "]"))
        }
    }

    private static func string(_ value: String, into text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: text += Array("\\u00".utf8) + Array(HexText.encode(CollectionOfOne(byte)).utf8)
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
