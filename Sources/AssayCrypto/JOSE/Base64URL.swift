/// Base 64 for URLs without padding (RFC 7515, section 2), for the path of every token.
///
/// The rules are those of `Base64` in AssayKit, of which this is a faster form; a test holds the two together.
enum Base64URL {
    /// The length of the text for so many bytes.
    static func encodedCount(_ count: Int) -> Int {
        count / 3 * 4 + [0, 2, 3][count % 3]
    }

    /// Appends the text of `bytes`.
    static func append(_ bytes: some Collection<UInt8>, to output: inout [UInt8]) {
        withContiguousBytes(bytes) { bytes in
            alphabet.withUTF8Buffer { alphabet in
                var index = 0
                while index + 3 <= bytes.count {
                    let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                    output.append(alphabet[Int(group >> 18)])
                    output.append(alphabet[Int(group >> 12 & 63)])
                    output.append(alphabet[Int(group >> 6 & 63)])
                    output.append(alphabet[Int(group & 63)])
                    index += 3
                }
                switch bytes.count - index {
                case 1:
                    let group = UInt32(bytes[index]) << 4
                    output.append(alphabet[Int(group >> 6)])
                    output.append(alphabet[Int(group & 63)])
                case 2:
                    let group = UInt32(bytes[index]) << 10 | UInt32(bytes[index + 1]) << 2
                    output.append(alphabet[Int(group >> 12)])
                    output.append(alphabet[Int(group >> 6 & 63)])
                    output.append(alphabet[Int(group & 63)])
                default: break
                }
            }
        }
    }

    /// The bytes of a text; nil for any character outside the alphabet, for padding, for a length that no bytes have,
    /// and for unused bits that are not zero.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let rest = text.count % 4
        guard rest != 1 else { return nil }
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 2) { output, written in
            isValid = decode(text, into: output, &written)
            if !isValid { written = 0 }
        }
        return isValid ? bytes : nil
    }

    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>, _ written: inout Int
    ) -> Bool {
        reverse.withUnsafeBufferPointer { reverse in
            // A character outside the alphabet has a bit above the sixth, which all its successors keep.
            var seen: UInt8 = 0
            var index = 0
            var end = 0
            while index + 4 <= text.count {
                let first = reverse[Int(text[index])]
                let second = reverse[Int(text[index + 1])]
                let third = reverse[Int(text[index + 2])]
                let fourth = reverse[Int(text[index + 3])]
                seen |= first | second | third | fourth
                output[end] = first << 2 | second >> 4
                output[end + 1] = second << 4 | third >> 2
                output[end + 2] = third << 6 | fourth
                index += 4
                end += 3
            }
            if index < text.count {
                let first = reverse[Int(text[index])]
                let second = reverse[Int(text[index + 1])]
                seen |= first | second
                output[end] = first << 2 | second >> 4
                end += 1
                var unused = second << 4
                if index + 2 < text.count {
                    let third = reverse[Int(text[index + 2])]
                    seen |= third
                    output[end] = second << 4 | third >> 2
                    end += 1
                    unused = third << 6
                }
                guard unused == 0 else { return false }
            }
            written = end
            return seen < 64
        }
    }

    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// The value of each character; 255 for those outside the alphabet.
    private static let reverse: [UInt8] = {
        var table = [UInt8](repeating: 255, count: 256)
        alphabet.withUTF8Buffer { alphabet in
            for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        }
        return table
    }()
}
