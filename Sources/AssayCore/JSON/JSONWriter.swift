extension JSON {
    /// The value as compact JSON text in UTF-8; a number that is not finite becomes `null`.
    public var encoded: [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(512)
        write(to: &output)
        return output
    }

    /// The value as compact JSON text in printable ASCII: each other character is one or two `\u` escapes.
    package var asciiEncoded: [UInt8] {
        let bytes = encoded
        if bytes.allSatisfy({ $0 < 0x7F }) { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(2 * bytes.count)
        for unit in String(decoding: bytes, as: UTF8.self).utf16 {
            if unit < 0x7F {
                output.append(UInt8(truncatingIfNeeded: unit))
            } else {
                let pair = [UInt8(truncatingIfNeeded: unit >> 8), UInt8(truncatingIfNeeded: unit)]
                output += Array("\\u\(Hex.encode(pair))".utf8)
            }
        }
        return output
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let number): output.append(contentsOf: String(number).utf8)
        case .number(let number): output.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
        case .string(let text): JSON.write(text, to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSON.write(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            // What needs no escape is copied in one piece.
            var start = 0
            for index in bytes.indices where needsEscape(bytes[index]) {
                output.append(contentsOf: bytes[start..<index])
                escape(bytes[index], to: &output)
                start = index + 1
            }
            output.append(contentsOf: bytes[start...])
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private static func escape(_ byte: UInt8, to output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): output.append(contentsOf: "\\\"".utf8)
        case UInt8(ascii: "\\"): output.append(contentsOf: "\\\\".utf8)
        case 0x0A: output.append(contentsOf: "\\n".utf8)
        case 0x0D: output.append(contentsOf: "\\r".utf8)
        case 0x09: output.append(contentsOf: "\\t".utf8)
        default: output.append(contentsOf: "\\u00\(Hex.encode([byte]))".utf8)
        }
    }
}
