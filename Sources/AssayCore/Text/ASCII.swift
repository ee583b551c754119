/// The classes of ASCII characters, for text that is read byte by byte.
///
/// A byte of a longer UTF-8 sequence is in none of them.
extension UInt8 {
    /// Whether the byte is a digit, `0` to `9`.
    @inlinable public var isASCIIDigit: Bool { 0x30 <= self && self <= 0x39 }

    /// Whether the byte is a capital letter, `A` to `Z`.
    @inlinable public var isASCIIUppercase: Bool { 0x41 <= self && self <= 0x5A }

    /// Whether the byte is a small letter, `a` to `z`.
    @inlinable public var isASCIILowercase: Bool { 0x61 <= self && self <= 0x7A }

    /// Whether the byte is a letter, capital or small.
    @inlinable public var isASCIILetter: Bool { (self | 0x20).isASCIILowercase }

    /// Whether the byte is a letter or a digit.
    @inlinable public var isASCIILetterOrDigit: Bool { isASCIILetter || isASCIIDigit }

    /// The value of a hexadecimal digit, 0 to 15, in capital or small letters; nil for any other byte.
    @inlinable public var hexDigitValue: UInt8? {
        if isASCIIDigit { return self - 0x30 }
        let letter = self | 0x20
        return 0x61 <= letter && letter <= 0x66 ? letter - 0x61 + 10 : nil
    }

    /// The small letter of a capital one; any other byte as it is.
    @inlinable public var lowercasedASCII: UInt8 { isASCIIUppercase ? self | 0x20 : self }

    /// The capital letter of a small one; any other byte as it is.
    @inlinable public var uppercasedASCII: UInt8 { isASCIILowercase ? self & 0xDF : self }
}
