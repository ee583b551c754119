internal import AssayCore
internal import Logging

/// A line of the log for programs: one JSON object (RFC 8259), printable ASCII throughout.
///
/// `time` (RFC 3339, UTC, milliseconds), `level`, `label`, `source` and `message` are always there; the metadata follows in
/// the order of its names. A name of metadata that is one of these gets `metadata.` in front.
enum JSONLogLine {
    private static let names: Set = ["time", "level", "label", "source", "message", "truncated"]

    static func encode(_ entry: LogEntry) -> [UInt8] {
        var members = [
            JSONMember("time", .string(entry.time.textWithMilliseconds)),
            JSONMember("level", .string("\(entry.level)")),
            JSONMember("label", text(entry.label)),
            JSONMember("source", text(entry.source)),
            JSONMember("message", text(entry.message)),
        ]
        var size = members.reduce(0) { $0 + bytes($1) }
        var seen = names
        for field in entry.fields {
            var name = cut(field.name, 100)
            if names.contains(name) { name = "metadata.\(name)" }
            let member = JSONMember(name, value(field.value, depth: 0))
            let more = bytes(member)
            // Two names that were cut to the same would be one member twice.
            guard size + more <= LogEntry.lineLimit - 64, seen.insert(name).inserted else {
                members.append(JSONMember("truncated", true))
                break
            }
            size += more
            members.append(member)
        }
        return ascii(JSON.object(members)) + [UInt8(ascii: "\n")]
    }

    /// A value of metadata as JSON, for lines in another format.
    static func text(of value: Logger.MetadataValue) -> String {
        String(decoding: ascii(self.value(value, depth: 0)), as: UTF8.self)
    }

    private static func value(_ value: Logger.MetadataValue, depth: Int) -> JSON {
        switch value {
        case .string(let text): return self.text(text)
        case .stringConvertible(let value):
            switch value {
            case let field as LogField: return text(field.text)
            case let number as any BinaryInteger:
                return Int64(exactly: number).map { .integer($0) } ?? text("\(number)")
            case let number as Double: return number.isFinite ? .number(number) : text("\(number)")
            case let isTrue as Bool: return .bool(isTrue)
            default: return text("\(value)")
            }
        case .array(let elements):
            guard depth < LogEntry.depthLimit else { return "..." }
            return .array(elements.prefix(64).map { self.value($0, depth: depth + 1) })
        case .dictionary(let members):
            guard depth < LogEntry.depthLimit else { return "..." }
            let sorted = members.sorted { $0.key < $1.key }.prefix(64)
            return .object(sorted.map { JSONMember(cut($0.key, 100), self.value($0.value, depth: depth + 1)) })
        }
    }

    private static func text(_ text: String) -> JSON {
        .string(cut(text, LogEntry.valueLimit))
    }

    /// The beginning of a text that needs about a number of bytes in the line, escapes included.
    private static func cut(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit / 12 else { return text }
        var bytes = 0
        let end = text.unicodeScalars.firstIndex { scalar in
            switch scalar.value {
            case 0x20..<0x7F: bytes += scalar == "\"" || scalar == "\\" ? 2 : 1
            case ...0xFFFF: bytes += 6
            default: bytes += 12
            }
            return bytes > limit
        }
        return end.map { "\(text[..<$0])..." } ?? text
    }

    private static func bytes(_ member: JSONMember) -> Int {
        ascii(.object([member])).count
    }

    /// The text of a value with everything beyond printable ASCII as escapes: nothing is left to steer a terminal with.
    private static func ascii(_ json: JSON) -> [UInt8] {
        let encoded = json.encoded
        guard !encoded.allSatisfy({ $0 < 0x80 }) else { return encoded }
        // Outside of strings everything is ASCII.
        var output: [UInt8] = []
        for unit in String(decoding: encoded, as: UTF8.self).utf16 {
            if let byte = UInt8(exactly: unit), byte < 0x80 {
                output.append(byte)
            } else {
                output += Array("\\u\(Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)]))".utf8)
            }
        }
        return output
    }
}
