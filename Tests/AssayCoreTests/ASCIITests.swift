import AssayCore
import Testing

@Suite("ASCII")
struct ASCIITests {
    /// What the standard library says of a byte as a character; no byte above 0x7F is ASCII.
    private func scalar(_ byte: UInt8) -> Unicode.Scalar? {
        byte < 0x80 ? Unicode.Scalar(byte) : nil
    }

    @Test("Every byte is in the classes of its character, and in none above 0x7F", arguments: UInt8.min...UInt8.max)
    func classes(_ byte: UInt8) {
        let isDigit = scalar(byte).map { ("0"..."9").contains($0) } ?? false
        let isUpper = scalar(byte)?.properties.isUppercase ?? false
        let isLower = scalar(byte)?.properties.isLowercase ?? false
        #expect(byte.isASCIIDigit == isDigit)
        #expect(byte.isASCIIUppercase == isUpper)
        #expect(byte.isASCIILowercase == isLower)
        #expect(byte.isASCIILetter == (isUpper || isLower))
        #expect(byte.isASCIILetterOrDigit == (isUpper || isLower || isDigit))
        #expect(byte.hexDigitValue == scalar(byte).flatMap { Character($0).hexDigitValue }.map { UInt8($0) })
        #expect(byte.lowercasedASCII == (isUpper ? byte + 32 : byte))
        #expect(byte.uppercasedASCII == (isLower ? byte - 32 : byte))
    }
}
