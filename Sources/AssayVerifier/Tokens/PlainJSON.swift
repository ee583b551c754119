internal import AssayCore

/// A place in JSON of the plainest spelling: no space, text in printable ASCII without escapes, short whole numbers.
///
/// JSON with another spelling may be valid as well; this reader only reports that it is not plain. The bytes are not
/// stored, because they are borrowed; every read of them is within their bounds or refused.
struct PlainJSON {
    private(set) var position = 0

    /// Skips an expected byte; false when another follows.
    mutating func take(_ byte: UInt8, of bytes: Span<UInt8>) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Passes over several bytes; false when others are there.
    mutating func take(_ part: [UInt8], of bytes: Span<UInt8>) -> Bool {
        guard bytes.count - position >= part.count else { return false }
        for index in part.indices where bytes[position + index] != part[index] { return false }
        position += part.count
        return true
    }

    /// The letters of a member's name of up to eight, as one number; nil when it is longer or not plain.
    mutating func name(of bytes: Span<UInt8>) -> UInt64? {
        guard let place = quoted(of: bytes), place.count <= 8 else { return nil }
        var letters: UInt64 = 0
        for index in place { letters = letters << 8 | UInt64(bytes[index]) }
        return letters
    }

    /// Reads text into a variable that must still be nil; false for a second text, and for text that is not plain.
    mutating func text(into text: inout String?, of bytes: Span<UInt8>) -> Bool {
        guard text.isNil, let place = quoted(of: bytes) else { return false }
        text = PlainJSON.string(bytes, place)
        return true
    }

    /// 32 bytes that are written in Base 64 URL.
    mutating func digest(of bytes: Span<UInt8>) -> [UInt8]? {
        guard let place = quoted(of: bytes), place.count == 43 else { return nil }
        let found = bytes.extracting(place).withUnsafeBufferPointer { Base64.decodeURL(utf8: Array($0)[...]) }
        return found?.count == 32 ? found : nil
    }

    /// Reads an array of a few texts into a variable that must still be nil.
    mutating func texts(into texts: inout [String]?, atMost limit: Int, of bytes: Span<UInt8>) -> Bool {
        guard case .none = texts, take(UInt8(ascii: "["), of: bytes) else { return false }
        var found: [String] = []
        found.reserveCapacity(2)
        repeat {
            guard found.count < limit, let place = quoted(of: bytes) else { return false }
            found.append(PlainJSON.string(bytes, place))
        } while take(UInt8(ascii: ","), of: bytes)
        texts = found
        return take(UInt8(ascii: "]"), of: bytes)
    }

    /// Reads a whole number into a variable that must still be nil: 1 to 18 digits, which no integer of 64 bits is too
    /// small for, the first of them not 0.
    mutating func number(into number: inout Int64?, of bytes: Span<UInt8>) -> Bool {
        let start = position
        var value: Int64 = 0
        while position < bytes.count, position < start + 18, bytes[position].isASCIIDigit {
            value = value * 10 + Int64(bytes[position] - UInt8(ascii: "0"))
            position += 1
        }
        guard number == nil, position > start, bytes[start] != UInt8(ascii: "0") else { return false }
        number = value
        return true
    }

    /// Where the characters of a string are, the quotation marks left out.
    private mutating func quoted(of bytes: Span<UInt8>) -> Range<Int>? {
        guard take(UInt8(ascii: "\""), of: bytes) else { return nil }
        let start = position
        var end = start
        // Eight at a time, as long as none of them needs to be looked at.
        let raw = bytes.bytes
        while end + 8 <= raw.byteCount, PlainJSON.isText(raw.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self))
        {
            end += 8
        }
        while end < bytes.count, PlainJSON.isText(bytes[end]) { end += 1 }
        position = end
        return take(UInt8(ascii: "\""), of: bytes) ? start..<end : nil
    }

    /// Whether a byte in a string is an ordinary character.
    private static func isText(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// The same for eight bytes at once: a carry cannot hide a special byte, it can only make a neighbour look like
    /// one.
    private static func isText(_ bytes: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        func zero(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        let control = (bytes &- 0x20 * ones) & ~bytes
        let quote = zero(bytes ^ UInt64(UInt8(ascii: "\"")) * ones)
        let backslash = zero(bytes ^ UInt64(UInt8(ascii: "\\")) * ones)
        let beyond = bytes | (bytes &+ ones)
        return (control | quote | backslash | beyond) & (0x80 * ones) == 0
    }

    private static func string(_ bytes: Span<UInt8>, _ place: Range<Int>) -> String {
        bytes.extracting(place).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
