/// Random identifiers in the form of a UUID (RFC 9562, section 5.4).
public enum UUID4 {
    /// A new one, with letters in lower case.
    public static func text(_ randomness: Randomness) -> String {
        // In bounds: 16 bytes.
        var bytes = randomness.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]].map { Hex.encode($0) }
            .joined(separator: "-")
    }

    /// Whether a text is one, with letters in either case.
    public static func isText(_ text: String) -> Bool {
        // In bounds: 32 digits are 16 bytes.
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard text.utf8.count == 36, parts.map(\.count) == [8, 4, 4, 4, 12],
            let bytes = Hex.decode(parts.reduce(into: "") { $0 += String(decoding: $1, as: UTF8.self) })
        else { return false }
        return bytes[6] & 0xF0 == 0x40 && bytes[8] & 0xC0 == 0x80
    }
}
