internal import CLibCrypto

/// An RSA public key of 2048 to 4096 bits that verifies PKCS #1 v1.5 signatures (RFC 8017, section 8.2).
public struct RSAPublicKey: Sendable {
    /// The modulus, big-endian without leading zeros; 256 to 512 bytes.
    public let modulus: [UInt8]
    /// The public exponent, big-endian without leading zeros; 1 to 5 bytes.
    public let exponent: [UInt8]

    let handle: KeyHandle
    private let sha256Verification: KeyOperation
    private let sha384Verification: KeyOperation

    /// A key from its numbers, in big-endian bytes; leading zeros are dropped.
    ///
    /// - Throws: ``CryptoError``: `unsupported_key` unless the modulus has 2048 to 4096 bits, `invalid_key` unless the
    ///   modulus is odd and the exponent is odd, at least 3 and below 2³³ (a larger one only costs time), and for a modulus
    ///   with the fingerprint of keys that can be factored (``hasROCAFingerprint(_:)``).
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
        sha256Verification = try KeyOperation(.verify, key: handle, digest: .sha256)
        sha384Verification = try KeyOperation(.verify, key: handle, digest: .sha384)
    }

    /// The length of the modulus, in bits.
    public var bitCount: Int {
        modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
    }

    /// Whether a PKCS #1 v1.5 signature over a message is good.
    ///
    /// It must be as long as the modulus, and its padding and DigestInfo must be the one encoding that RFC 8017 makes.
    public func isValidSignature(
        _ signature: ArraySlice<UInt8>, digest: DigestAlgorithm, message: ArraySlice<UInt8>
    ) -> Bool {
        signature.withUnsafeBufferPointer { signature in
            message.withUnsafeBufferPointer { isValidSignature(signature, digest: digest, message: $0) }
        }
    }

    func isValidSignature(
        _ signature: UnsafeBufferPointer<UInt8>, digest: DigestAlgorithm, message: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard signature.count == modulus.count else { return false }
        let verification =
            switch digest {
            case .sha256: sha256Verification
            case .sha384: sha384Verification
            }
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
    public static func == (left: RSAPublicKey, right: RSAPublicKey) -> Bool {
        left.modulus == right.modulus && left.exponent == right.exponent
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(modulus)
        hasher.combine(exponent)
    }
}
