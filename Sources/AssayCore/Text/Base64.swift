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
        var sawStandard = false
        var sawURL = false
        var pending: UInt32 = 0
        var pendingBits = 0
        var output: [UInt8] = []
        output.reserveCapacity(content.count / 4 * 3 + 2)
        // Once, not for each character.
        let values = reverse
        for character in content {
            let value = values[Int(character)]
            guard value != invalid else { return nil }
            if character == UInt8(ascii: "+") || character == UInt8(ascii: "/") { sawStandard = true }
            if character == UInt8(ascii: "-") || character == UInt8(ascii: "_") { sawURL = true }
            pending = (pending << 6 | UInt32(value)) & 0xFFF
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                output.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
            }
        }
        guard !(sawStandard && sawURL), standard || !sawStandard, url || !sawURL,
            pending & ((1 << UInt32(pendingBits)) - 1) == 0
        else { return nil }
        return output
    }

    private static let standardAlphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let invalid: UInt8 = 0xFF

    /// The value of each ASCII character in either alphabet.
    private static let reverse: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, character) in standardAlphabet.enumerated() { table[Int(character)] = UInt8(value) }
        for (value, character) in urlAlphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()
}
