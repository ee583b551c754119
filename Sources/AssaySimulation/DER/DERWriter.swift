public import AssayCore

/// Writes ASN.1 values in the distinguished encoding (X.690), and in the few BER forms that Apple's receipts use.
///
/// It checks nothing, so that malformed certificates and messages can be made too.
public enum DERWriter {
    /// One value: identifier octet, definite length, content.
    public static func value(_ identifier: UInt8, _ content: [UInt8]) -> [UInt8] {
        [identifier] + length(content.count) + content
    }

    /// A sequence of encoded elements.
    public static func sequence(_ elements: [UInt8]...) -> [UInt8] {
        value(0x30, elements.flatMap { $0 })
    }

    /// A set in the order given; DER sorts a SET OF, which Apple's receipts do not rely on.
    public static func set(_ elements: [UInt8]...) -> [UInt8] {
        value(0x31, elements.flatMap { $0 })
    }

    /// A non-negative integer.
    public static func integer(_ number: UInt64) -> [UInt8] {
        integer(magnitude: withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }

    /// A non-negative integer from its big-endian bytes.
    public static func integer(magnitude: [UInt8]) -> [UInt8] {
        var digits = Array(magnitude.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return value(0x02, digits)
    }

    /// True or false.
    public static func boolean(_ flag: Bool) -> [UInt8] {
        value(0x01, [flag ? 0xFF : 0x00])
    }

    /// A string of octets.
    public static func octetString(_ bytes: [UInt8]) -> [UInt8] {
        value(0x04, bytes)
    }

    /// A string of bits.
    public static func bitString(_ bytes: [UInt8], unusedBits: UInt8 = 0) -> [UInt8] {
        value(0x03, [unusedBits] + bytes)
    }

    /// The value NULL.
    public static let null: [UInt8] = [0x05, 0x00]

    /// A text in UTF-8.
    public static func utf8String(_ text: String) -> [UInt8] {
        value(0x0C, Array(text.utf8))
    }

    /// A text of few characters; nothing checks them.
    public static func printableString(_ text: String) -> [UInt8] {
        value(0x13, Array(text.utf8))
    }

    /// The base-128 arcs of an object identifier; the first two share an octet.
    public static func objectIdentifier(_ arcs: [UInt64]) -> [UInt8] {
        guard arcs.count >= 2 else { return value(0x06, []) }
        return value(0x06, ([arcs[0] &* 40 &+ arcs[1]] + arcs.dropFirst(2)).flatMap(base128))
    }

    /// A certificate's time: UTCTime up to 2049, GeneralizedTime after (RFC 5280, section 4.1.2.5).
    public static func time(_ instant: Instant) -> [UInt8] {
        // The digits of "2026-10-08T07:25:21Z" are what both forms are made of.
        let digits = Array(Instant(seconds: instant.seconds).description.utf8.filter { (0x30...0x39).contains($0) })
        let year = digits.prefix(4).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return (1950..<2050).contains(year)
            ? value(0x17, Array(digits.dropFirst(2)) + [UInt8(ascii: "Z")])
            : value(0x18, digits + [UInt8(ascii: "Z")])
    }

    /// An explicit context tag of any number.
    public static func context(_ number: UInt64, _ content: [UInt8]) -> [UInt8] {
        guard number >= 31 else { return value(0xA0 | UInt8(number), content) }
        return [0xBF] + base128(number) + length(content.count) + content
    }

    /// A constructed value of indefinite length, which BER allows and DER does not (X.690, section 8.1.3.6).
    public static func indefinite(_ identifier: UInt8, _ content: [UInt8]) -> [UInt8] {
        [identifier, 0x80] + content + [0x00, 0x00]
    }

    /// The octets of a definite length, as short as can be.
    public static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let digits = withUnsafeBytes(of: UInt64(count).bigEndian) { Array($0.drop { $0 == 0 }) }
        return [0x80 | UInt8(digits.count)] + digits
    }

    private static func base128(_ number: UInt64) -> [UInt8] {
        var digits = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            digits.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return digits
    }
}
