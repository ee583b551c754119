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
        var seen: UInt16 = 0
        let output = values.withUnsafeBufferPointer { values in
            content.withUnsafeBufferPointer { content in
                [UInt8](unsafeUninitializedCapacity: content.count / 4 * 3 + 2) { output, end in
                    /// The bits of characters, the first in front; notes what they are.
                    func group(_ start: Int, _ count: Int) -> UInt32 {
                        var group: UInt32 = 0
                        for character in content[start..<start + count] {
                            let value = values[Int(character)]
                            seen |= value
                            group = group << 6 | UInt32(value & 63)
                        }
                        return group
                    }
                    let whole = content.count & ~3
                    for start in stride(from: 0, to: whole, by: 4) {
                        let group = group(start, 4)
                        output[end] = UInt8(truncatingIfNeeded: group >> 16)
                        output[end + 1] = UInt8(truncatingIfNeeded: group >> 8)
                        output[end + 2] = UInt8(truncatingIfNeeded: group)
                        end += 3
                    }
                    let rest = content.count - whole
                    guard rest > 0 else { return }
                    let group = group(whole, rest)
                    // Two characters have four bits too many, and three have two.
                    let unused = UInt32(rest == 2 ? 4 : 2)
                    if group & (1 << unused - 1) != 0 { seen |= isInvalid }
                    if rest == 3 {
                        output[end] = UInt8(truncatingIfNeeded: group >> 10)
                        end += 1
                    }
                    output[end] = UInt8(truncatingIfNeeded: group >> unused)
                    end += 1
                }
            }
        }
        let sawStandard = seen & isStandard != 0
        let sawURL = seen & isURL != 0
        guard seen & isInvalid == 0, !(sawStandard && sawURL), standard || !sawStandard, url || !sawURL else {
            return nil
        }
        return output
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
