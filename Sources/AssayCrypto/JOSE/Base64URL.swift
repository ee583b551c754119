/// Base 64 for URLs without padding (RFC 7515, section 2), for the path of every token.
///
/// The rules are those of `Base64` in AssayKit, of which this is a faster form; a test holds the two together.
enum Base64URL {
    /// The length of the text for a number of bytes.
    static func encodedCount(_ count: Int) -> Int {
        count / 3 * 4 + (count % 3 == 0 ? 0 : count % 3 + 1)
    }

    /// The most bytes that a text of a given length can encode.
    static func decodedCount(_ count: Int) -> Int {
        count / 4 * 3 + (count % 4 == 0 ? 0 : count % 4 - 1)
    }

    /// Appends the text of `bytes`.
    static func append(_ bytes: some Collection<UInt8>, to output: inout [UInt8]) {
        withContiguousBytes(bytes) { bytes in
            let start = output.count
            let count = encodedCount(bytes.count)
            output.append(contentsOf: repeatElement(0, count: count))
            output.withUnsafeMutableBufferPointer { output in
                encode(bytes, into: UnsafeMutableBufferPointer(rebasing: output[start..<start + count]))
            }
        }
    }

    /// Writes the text of `bytes` into `output`, which is as long as that.
    private static func encode(_ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) {
        alphabet.withUTF8Buffer { alphabet in
            var index = 0
            var end = 0
            while index + 3 <= bytes.count {
                let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                output[end] = alphabet[Int(group >> 18)]
                output[end + 1] = alphabet[Int(group >> 12 & 63)]
                output[end + 2] = alphabet[Int(group >> 6 & 63)]
                output[end + 3] = alphabet[Int(group & 63)]
                index += 3
                end += 4
            }
            switch bytes.count - index {
            case 1:
                let group = UInt32(bytes[index]) << 4
                output[end] = alphabet[Int(group >> 6)]
                output[end + 1] = alphabet[Int(group & 63)]
            case 2:
                let group = UInt32(bytes[index]) << 10 | UInt32(bytes[index + 1]) << 2
                output[end] = alphabet[Int(group >> 12)]
                output[end + 1] = alphabet[Int(group >> 6 & 63)]
                output[end + 2] = alphabet[Int(group & 63)]
            default: break
            }
        }
    }

    /// The bytes of a text; nil for any character outside the alphabet, for padding, for a length that no bytes have,
    /// and for unused bits that are not zero.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: decodedCount(text.count)) { output, written in
            isValid = decode(text, into: output)
            written = isValid ? decodedCount(text.count) : 0
        }
        return isValid ? bytes : nil
    }

    /// Writes the bytes of a text into `output`, which must have room for ``decodedCount(_:)`` of them; false for text
    /// that ``decode(_:)`` refuses, after an unspecified part of `output` was written.
    static func decode(_ text: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        guard text.count % 4 != 1, output.count >= decodedCount(text.count) else { return false }
        return places.withUnsafeBufferPointer { places in
            // A character outside the alphabet sets a bit above the 24 of a group, and nothing clears it.
            var seen: UInt32 = 0
            var index = 0
            var end = 0
            while index + 4 <= text.count {
                let group =
                    places[Int(text[index])] | places[256 + Int(text[index + 1])]
                    | places[512 + Int(text[index + 2])] | places[768 + Int(text[index + 3])]
                seen |= group
                output[end] = UInt8(truncatingIfNeeded: group >> 16)
                output[end + 1] = UInt8(truncatingIfNeeded: group >> 8)
                output[end + 2] = UInt8(truncatingIfNeeded: group)
                index += 4
                end += 3
            }
            if index < text.count {
                var group = places[Int(text[index])] | places[256 + Int(text[index + 1])]
                output[end] = UInt8(truncatingIfNeeded: group >> 16)
                if index + 2 < text.count {
                    group |= places[512 + Int(text[index + 2])]
                    output[end + 1] = UInt8(truncatingIfNeeded: group >> 8)
                    guard group & 0xFF == 0 else { return false }
                } else {
                    guard group & 0xFFFF == 0 else { return false }
                }
                seen |= group
            }
            return seen < 1 << 24
        }
    }

    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// The bits of each character at the first, the second, the third and the fourth place of a group; bit 24 for those
    /// outside the alphabet.
    private static let places: [UInt32] = {
        var table = [UInt32](repeating: 1 << 24, count: 4 * 256)
        alphabet.withUTF8Buffer { alphabet in
            for place in 0..<4 {
                for (value, character) in alphabet.enumerated() {
                    table[256 * place + Int(character)] = UInt32(value) << UInt32(18 - 6 * place)
                }
            }
        }
        return table
    }()
}
