extension RSAPublicKey {
    /// Whether a modulus looks like one of the keys that Infineon's RSALib made, which can be factored (CVE-2017-15361,
    /// "ROCA"; Nemec et al., The Return of Coppersmith's Attack, CCS 2017, section 2).
    ///
    /// Its primes are `k * M + (65537^a mod M)`, where `M` is the product of the first primes. So for each of these the
    /// modulus, too, is a power of 65537. About one of 2^27 other moduli looks the same.
    ///
    /// - Parameter modulus: big-endian bytes.
    static func hasROCAFingerprint(_ modulus: [UInt8]) -> Bool {
        fingerprints.allSatisfy { $0.fits(modulus) }
    }

    /// A small prime, and the residues that powers of 65537 have by it.
    private struct Fingerprint: Sendable {
        let prime: UInt64
        let isPower: [Bool]

        init(prime: Int) {
            var isPower = [Bool](repeating: false, count: prime)
            var residue = 1
            while !isPower[residue] {
                isPower[residue] = true
                residue = residue * (65537 % prime) % prime
            }
            self.prime = UInt64(prime)
            self.isPower = isPower
        }

        /// Whether 65537 has fewer residues than all but 0, which any modulus has.
        var tells: Bool { isPower.dropFirst().contains(false) }

        func fits(_ modulus: [UInt8]) -> Bool {
            isPower[Int(modulus.reduce(0) { ($0 << 8 | UInt64($1)) % prime })]
        }
    }

    /// The odd primes that the product for the shortest keys has; the products for longer keys have them, too.
    private static let fingerprints: [Fingerprint] = [
        3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
        113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
    ].map { Fingerprint(prime: $0) }.filter(\.tells)
}
