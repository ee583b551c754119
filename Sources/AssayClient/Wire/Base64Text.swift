/// Base 64 (RFC 4648): written with the standard alphabet and padding, read in either alphabet, padded or not.
enum Base64Text {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let group = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
            for digit in 0...3 {
                text.append(digit > part.count ? 0x3D : alphabet[Int(group >> UInt32(18 - 6 * digit) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// With the alphabet for URLs and without padding (RFC 7515, section 2).
    static func encodeURL(_ bytes: [UInt8]) -> String {
        let text = encode(bytes).utf8.lazy.filter { $0 != 0x3D }
            .map { $0 == 0x2B ? UInt8(ascii: "-") : $0 == 0x2F ? UInt8(ascii: "_") : $0 }
        return String(decoding: Array(text), as: UTF8.self)
    }

    /// Nil for text that is not Base 64, that mixes the alphabets, or whose last bits are not zero.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var digits: [UInt8] = []
        digits.reserveCapacity(text.count)
        var pads = 0
        var seen = (standard: false, url: false)
        for character in text {
            if character == 0x3D {
                pads += 1
                continue
            }
            guard pads == 0 else { return nil }
            switch character {
            case 0x41...0x5A: digits.append(character - 0x41)
            case 0x61...0x7A: digits.append(character - 0x61 + 26)
            case 0x30...0x39: digits.append(character - 0x30 + 52)
            case 0x2B, 0x2F:
                digits.append(character == 0x2B ? 62 : 63)
                seen.standard = true
            case 0x2D, 0x5F:
                digits.append(character == 0x2D ? 62 : 63)
                seen.url = true
            default: return nil
            }
        }
        let rest = digits.count % 4
        guard rest != 1, pads == 0 || pads == (4 - rest) % 4, !(seen.standard && seen.url) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3 + 2)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for digit in digits {
            buffer = (buffer << 6 | UInt32(digit)) & 0xFFFF
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
        }
        guard buffer & (1 << bits - 1) == 0 else { return nil }
        return bytes
    }
}
