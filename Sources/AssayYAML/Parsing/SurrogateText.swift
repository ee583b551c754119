internal import AssayCore
internal import CLibYAML

/// A text in double quotes that has characters above U+FFFF as JSON generators write them: as two escapes.
struct SurrogateText {
    /// The meaning of the text; nil when it has an unpaired surrogate.
    @Exact private(set) var value: String?
    /// The places of unpaired surrogates.
    private(set) var lone: [YAMLPosition] = []

    /// - Parameters:
    ///   - quoted: the text as it was written, with its quotes.
    ///   - start: its place in the file.
    init(_ quoted: ArraySlice<UInt8>, from start: YAMLPosition) {
        var readable: [UInt8] = []
        var place = start
        var rest = quoted
        while let byte = rest.first {
            var count = byte == UInt8(ascii: "\\") ? min(2, rest.count) : 1
            if let (code, length) = Self.pair(rest) {
                readable += Self.escape(code)
                count = length
            } else {
                if Self.half(rest) != nil { lone.append(place) }
                readable += rest.prefix(count)
            }
            place = place.advanced(over: rest.prefix(count), before: rest.dropFirst(count).first)
            rest = rest.dropFirst(count)
        }
        if lone.isEmpty { value = Self.meaning(of: readable) }
    }

    /// The character of two consecutive escapes, and the number of their bytes.
    private static func pair(_ bytes: ArraySlice<UInt8>) -> (code: UInt32, count: Int)? {
        guard let high = half(bytes), high < 0xDC00, let low = half(bytes.dropFirst(6)), low >= 0xDC00 else {
            return nil
        }
        return (0x10000 + (high - 0xD800) << 10 + (low - 0xDC00), 12)
    }

    /// The number of an escape at the start of the bytes that is half a character.
    private static func half(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        guard bytes.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]), let code = code(bytes.dropFirst(2).prefix(4))
        else { return nil }
        return (0xD800...0xDFFF).contains(code) ? code : nil
    }

    /// The number that four hexadecimal digits are.
    static func code(_ digits: some Collection<UInt8>) -> UInt32? {
        guard digits.count == 4 else { return nil }
        var code: UInt32 = 0
        for digit in digits {
            guard let value = digit.hexDigitValue else { return nil }
            code = code << 4 | UInt32(value)
        }
        return code
    }

    private static func escape(_ code: UInt32) -> [UInt8] {
        let digits = String(code, radix: 16)
        return Array("\\U".utf8) + [UInt8](repeating: UInt8(ascii: "0"), count: 8 - digits.utf8.count) + digits.utf8
    }

    /// What libyaml reads a text in quotes as.
    private static func meaning(of quoted: [UInt8]) -> String? {
        quoted.withUnsafeBufferPointer { buffer in
            do throws(Diagnostics) {
                let parser = try EventParser(buffer, source: YAMLSource(file: "", bytes: []))
                while true {
                    let event = try parser.next().pointee
                    if event.type == YAML_STREAM_END_EVENT { return nil }
                    guard event.type == YAML_SCALAR_EVENT else { continue }
                    return TreeBuilder.text(of: event)
                }
            } catch {
                return nil
            }
        }
    }
}

extension YAMLPosition {
    /// The position after a number of bytes of complete characters.
    fileprivate func advanced(over bytes: ArraySlice<UInt8>, before next: UInt8?) -> YAMLPosition {
        var position = self
        for index in bytes.indices {
            let following = index + 1 < bytes.endIndex ? bytes[index + 1] : next
            switch bytes[index] {
            case UInt8(ascii: "\n"): position = YAMLPosition(line: position.line + 1, column: 1)
            case UInt8(ascii: "\r") where following != UInt8(ascii: "\n"):
                position = YAMLPosition(line: position.line + 1, column: 1)
            case UInt8(ascii: "\r"): break
            case 0x80...0xBF: break
            default: position = YAMLPosition(line: position.line, column: position.column + 1)
            }
        }
        return position
    }
}
