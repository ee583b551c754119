/// Base 64 (RFC 4648), both alphabets, strict.
public enum Base64: Sendable {
    /// Encodes with the standard alphabet and padding, the only form that Apple's decoders read.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        encode(bytes, alphabet: standardAlphabet, padded: true)
    }

    /// Encodes with the URL-safe alphabet and no padding, as JOSE does (RFC 7515, section 2).
    public static func encodeURL(_ bytes: some Collection<UInt8>) -> String {
        encode(bytes, alphabet: urlAlphabet, padded: false)
    }

    /// Decodes either alphabet, padded or not.
    ///
    /// Returns nil for a character outside the alphabets, for a text that mixes the two, for wrong padding, and for
    /// unused bits that are not zero: so for the same bytes, each alphabet has exactly one padded text and one without
    /// padding.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: Array(text.utf8))
    }

    /// Decodes the ASCII bytes of a Base 64 text; the rules are those of ``decode(_:)``.
    public static func decode(utf8 text: [UInt8]) -> [UInt8]? {
        decode(text[...], standard: true, url: true, padding: true)
    }

    /// Decodes the URL-safe alphabet without padding; nil for any other text, as JOSE demands (RFC 7515, section 2).
    public static func decodeURL(utf8 text: ArraySlice<UInt8>) -> [UInt8]? {
        decode(text, standard: false, url: true, padding: false)
    }

    private static func encode(_ bytes: some Collection<UInt8>, alphabet: [UInt8], padded: Bool) -> String {
        if let text = bytes.withContiguousStorageIfAvailable({ encode($0, alphabet: alphabet, padded: padded) }) {
            return text
        }
        return Array(bytes).withUnsafeBufferPointer { encode($0, alphabet: alphabet, padded: padded) }
    }

    private static func encode(_ bytes: UnsafeBufferPointer<UInt8>, alphabet: [UInt8], padded: Bool) -> String {
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
            var end = 0
            func put(_ group: UInt32, _ digits: Int) {
                for digit in 0..<digits {
                    text[end + digit] = alphabet[Int(group >> UInt32(18 - 6 * digit) & 63)]
                }
                end += digits
            }
            var start = 0
            while start + 3 <= bytes.count {
                put(UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2]), 4)
                start += 3
            }
            switch bytes.count - start {
            case 1: put(UInt32(bytes[start]) << 16, 2)
            case 2: put(UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8, 3)
            default: break
            }
            while padded, end % 4 != 0 {
                text[end] = UInt8(ascii: "=")
                end += 1
            }
            return end
        }
    }

    private static func decode(_ text: ArraySlice<UInt8>, standard: Bool, url: Bool, padding: Bool) -> [UInt8]? {
        var content = text
        while let last = content.last, last == UInt8(ascii: "="), text.count - content.count < 2 {
            content = content.dropLast()
        }
        let pads = text.count - content.count
        guard content.count % 4 != 1, pads == 0 || (padding && text.count % 4 == 0) else { return nil }
        let values = reverse
        var output = [UInt8](repeating: 0, count: content.count / 4 * 3 + [0, 0, 1, 2][content.count % 4])
        let seen = values.withUnsafeBufferPointer { values in
            content.withUnsafeBufferPointer { content in
                output.withUnsafeMutableBufferPointer { decode(content, values, to: $0) }
            }
        }
        let sawStandard = seen & isStandard != 0
        let sawURL = seen & isURL != 0
        guard seen & isInvalid == 0, !(sawStandard && sawURL), standard || !sawStandard, url || !sawURL else {
            return nil
        }
        return output
    }

    /// Writes the bytes of characters without padding; returns what the characters are.
    private static func decode(
        _ content: UnsafeBufferPointer<UInt8>, _ values: UnsafeBufferPointer<UInt16>,
        to output: UnsafeMutableBufferPointer<UInt8>
    ) -> UInt16 {
        var seen: UInt16 = 0
        var start = 0
        var end = 0
        while start + 4 <= content.count {
            let (a, b) = (values[Int(content[start])], values[Int(content[start + 1])])
            let (c, d) = (values[Int(content[start + 2])], values[Int(content[start + 3])])
            seen |= a | b | c | d
            let group = UInt32(a & 63) << 18 | UInt32(b & 63) << 12 | UInt32(c & 63) << 6 | UInt32(d & 63)
            output[end] = UInt8(truncatingIfNeeded: group >> 16)
            output[end + 1] = UInt8(truncatingIfNeeded: group >> 8)
            output[end + 2] = UInt8(truncatingIfNeeded: group)
            start += 4
            end += 3
        }
        guard start + 2 <= content.count else { return seen }
        // Two characters have four bits too many, and three have two.
        let (a, b) = (values[Int(content[start])], values[Int(content[start + 1])])
        let c = start + 3 == content.count ? values[Int(content[start + 2])] : 0
        seen |= a | b | c
        output[end] = UInt8(truncatingIfNeeded: (a & 63) << 2 | (b & 63) >> 4)
        if start + 3 == content.count {
            output[end + 1] = UInt8(truncatingIfNeeded: (b & 15) << 4 | (c & 63) >> 2)
            if c & 3 != 0 { seen |= isInvalid }
        } else if b & 15 != 0 {
            seen |= isInvalid
        }
        return seen
    }

    private static let standardAlphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    // Beside the six bits of a character's value.
    private static let isStandard: UInt16 = 1 << 8
    private static let isURL: UInt16 = 1 << 9
    private static let isInvalid: UInt16 = 1 << 10

    /// The value of each ASCII character in either alphabet, and which alphabet it belongs to if not to both.
    private static let reverse: [UInt16] = {
        var table = [UInt16](repeating: isInvalid, count: 256)
        for (alphabet, only) in [(standardAlphabet, isStandard), (urlAlphabet, isURL)] {
            for (value, character) in alphabet.enumerated() {
                table[Int(character)] = UInt16(value) | (value < 62 ? 0 : only)
            }
        }
        return table
    }()
}
