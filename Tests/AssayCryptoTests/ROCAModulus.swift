import AssayCore

/// Moduli with the fingerprint of CVE-2017-15361: powers of 65537 by each of the first primes.
enum ROCAModulus {
    private static let primes = (3...167).filter { number in !(2..<number).contains { number % $0 == 0 } }

    /// A modulus of 2048 bits; its neighbours by 2 have no fingerprint.
    ///
    /// - Parameters:
    ///   - power: the exponent of 65537, up to 12.
    ///   - offset: what is added to it.
    static func make(power: Int = 10, offset: Int = 0) -> [UInt8] {
        var product: [UInt8] = [1]
        for prime in primes { product = times(product, [UInt8(prime)]) }
        // An even factor makes the sum with an odd power odd; its first byte makes the sum as long as it should be.
        var factor = (0..<(256 - product.count)).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ 17) }
        factor[0] &= 0xFE
        factor.append(1)
        var residue: [UInt8] = [1]
        for _ in 0..<power { residue = times(residue, [1, 0, 1]) }
        var sum = plus(plus(times(product, factor), residue), [UInt8(offset)])
        while sum.count < 256 || sum.count == 256 && sum[255] < 0x80 { sum = grown(sum, product) }
        return Array(sum.prefix(256).reversed())
    }

    /// The number with 2^n times a product added, which changes no residue, so that its first bit becomes 1.
    private static func grown(_ number: [UInt8], _ product: [UInt8]) -> [UInt8] {
        let shifted = [UInt8](repeating: 0, count: 256 - product.count) + product
        return plus(number, shifted)
    }

    /// The product of two numbers in bytes, the least first.
    private static func times(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var columns = [Int](repeating: 0, count: left.count + right.count)
        for (place, byte) in left.enumerated() {
            for (other, factor) in right.enumerated() { columns[place + other] += Int(byte) * Int(factor) }
        }
        return carried(columns)
    }

    private static func plus(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        carried(
            (0..<max(left.count, right.count)).map {
                Int($0 < left.count ? left[$0] : 0) + Int($0 < right.count ? right[$0] : 0)
            })
    }

    private static func carried(_ columns: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        var carry = 0
        for column in columns {
            carry += column
            bytes.append(UInt8(carry & 0xFF))
            carry >>= 8
        }
        while carry > 0 {
            bytes.append(UInt8(carry & 0xFF))
            carry >>= 8
        }
        while bytes.last == 0 { bytes.removeLast() }
        return bytes
    }
}
