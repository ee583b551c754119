internal import AssayKit

/// Random identifiers in the form of a UUID (RFC 9562, section 5.4).
enum UUID4 {
    static func text(_ randomness: Randomness) -> String {
        var bytes = randomness.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]].map { Hex.encode($0) }
            .joined(separator: "-")
    }
}
