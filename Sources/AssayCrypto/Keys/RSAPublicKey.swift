internal import CLibCrypto
internal import Synchronization

/// An RSA public key of 2048 to 4096 bits that verifies signatures (RFC 8017, section 8).
public struct RSAPublicKey: Sendable {
    /// The modulus, big-endian without leading zeros; 256 to 512 bytes.
    public let modulus: [UInt8]
    /// The public exponent, big-endian without leading zeros; 1 to 5 bytes.
    public let exponent: [UInt8]

    let handle: KeyHandle
    private let sha256Verification: KeyOperation
    private let otherVerifications: RSAVerifications

    /// A key from its numbers, in big-endian bytes; leading zeros are dropped.
    ///
    /// - Throws: ``CryptoError``: `unsupported_key` unless the modulus has 2048 to 4096 bits, `invalid_key` unless the
    ///   modulus is odd and the exponent is odd, at least 3 and below 2³³ (a larger one only costs time), and for a
    ///   modulus with the fingerprint of keys that can be factored (`hasROCAFingerprint(_:)`).
    public init(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) throws(CryptoError) {
        guard modulus.count <= Self.maximumInputCount, exponent.count <= Self.maximumInputCount else {
            throw CryptoError(.unsupportedKey, "an RSA key of more than 4096 bits")
        }
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        try Self.check(modulus: modulus, exponent: exponent)
        var parameters = KeyParameters()
        parameters.add(OSSL_PKEY_PARAM_RSA_N, number: modulus)
        parameters.add(OSSL_PKEY_PARAM_RSA_E, number: exponent)
        let handle = try parameters.makeKey(type: "RSA", isPrivate: false)
        self.modulus = modulus
        self.exponent = exponent
        self.handle = handle
        sha256Verification = try KeyOperation(.verify, key: handle, padding: .pkcs1(.sha256))
        otherVerifications = RSAVerifications(of: handle)
    }

    /// The length of the modulus, in bits.
    public var bitCount: Int {
        modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
    }

    /// Whether a PKCS #1 v1.5 signature over a message is valid.
    ///
    /// It must be as long as the modulus, and its padding and DigestInfo must be the one encoding that RFC 8017 makes.
    public func isValidSignature(
        _ signature: ArraySlice<UInt8>, digest: DigestAlgorithm, message: ArraySlice<UInt8>
    ) -> Bool {
        signature.withUnsafeBufferPointer { signature in
            message.withUnsafeBufferPointer { isValidSignature(signature, digest: digest, message: $0) }
        }
    }

    /// Whether a PSS signature over a message is valid (RFC 8017, section 8.1): MGF1 with the same digest, and a salt
    /// as long as the digest.
    public func isValidPSSSignature(
        _ signature: ArraySlice<UInt8>, digest: DigestAlgorithm, message: ArraySlice<UInt8>
    ) -> Bool {
        signature.withUnsafeBufferPointer { signature in
            message.withUnsafeBufferPointer { isValid(signature, .pss(digest), digest, message: $0) }
        }
    }

    func isValidSignature(
        _ signature: UnsafeBufferPointer<UInt8>, digest: DigestAlgorithm, message: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        isValid(signature, .pkcs1(digest), digest, message: message)
    }

    private func isValid(
        _ signature: UnsafeBufferPointer<UInt8>, _ padding: RSAPadding, _ digest: DigestAlgorithm,
        message: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard signature.count == modulus.count else { return false }
        let verification = padding == .pkcs1(.sha256) ? sha256Verification : otherVerifications.operation(padding)
        guard let verification else { return false }
        var context = DigestContext(digest)
        context.update(message)
        return context.finish { verification.isValid(signature: signature, digest: $0) }
    }

    /// The longest number that is looked at: 4096 bits, and a few leading zeros.
    private static let maximumInputCount = 520

    private static func check(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        guard let first = modulus.first, let last = modulus.last,
            case let bits = modulus.count * 8 - first.leadingZeroBitCount, (2048...4096).contains(bits)
        else {
            throw CryptoError(.unsupportedKey, "an RSA key must have 2048 to 4096 bits")
        }
        let isExponentGood =
            exponent.count <= 5 && exponent.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } < 1 << 33
            && exponent.last.map { $0 & 1 == 1 } ?? false && exponent != [1]
        guard last & 1 == 1, isExponentGood else {
            throw CryptoError(.invalidKey, "an RSA modulus must be odd, and its exponent odd and in 3..<2^33")
        }
        guard !hasROCAFingerprint(modulus) else {
            throw CryptoError(.invalidKey, "an RSA modulus that can be factored (ROCA, CVE-2017-15361)")
        }
    }
}

extension RSAPublicKey: Hashable {
    /// Compares modulus and exponent.
    public static func == (left: RSAPublicKey, right: RSAPublicKey) -> Bool {
        left.modulus == right.modulus && left.exponent == right.exponent
    }

    /// Hashes modulus and exponent.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(modulus)
        hasher.combine(exponent)
    }
}

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

/// What verifies the signatures of a key other than those of tokens; each is set up when the first one comes.
private final class RSAVerifications: Sendable {
    private let key: KeyHandle
    private let operations = Mutex<[RSAPadding: KeyOperation]>([:])

    init(of key: KeyHandle) {
        self.key = key
    }

    /// The operation for a padding; nil when the library fails.
    func operation(_ padding: RSAPadding) -> KeyOperation? {
        operations.withLock { operations in
            if let known = operations[padding] { return known }
            let operation = try? KeyOperation(.verify, key: key, padding: padding)
            operations[padding] = operation
            return operation
        }
    }
}
