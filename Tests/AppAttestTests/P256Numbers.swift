/// Arithmetic on 32-byte numbers, as far as it takes to make unusual keys and signatures on P-256.
enum P256Numbers {
    /// The prime of the field (FIPS 186-4, section D.1.2.3).
    static let prime: [UInt8] =
        [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 12) + [UInt8](repeating: 0xFF, count: 12)
    /// The order of the group.
    static let order: [UInt8] =
        [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8)
        + [0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51]

    /// The difference of two numbers of 32 bytes, the first of which is not the greater.
    static func subtract(_ number: [UInt8], from other: [UInt8]) -> [UInt8] {
        var borrow = 0
        var digits: [UInt8] = []
        for (digit, from) in zip(number.reversed(), other.reversed()) {
            let difference = Int(from) - Int(digit) - borrow
            borrow = difference < 0 ? 1 : 0
            digits.insert(UInt8(truncatingIfNeeded: difference), at: 0)
        }
        return digits
    }
}
