public import AssayCrypto

/// A private key that signs simulated certificates: ``SimulatedKey`` on a curve, ``SimulatedRSAKey``.
public protocol CertificateSigner: Sendable {
    /// The DER of the AlgorithmIdentifier of its signatures (RFC 5280, section 4.1.1.2).
    func signatureAlgorithm(_ digest: DigestAlgorithm) -> [UInt8]
    /// Signs a message.
    func sign(_ message: [UInt8], digest: DigestAlgorithm) throws(CryptoError) -> [UInt8]
    /// Its public half.
    var subjectPublicKey: SubjectPublicKey { get }
}

extension SimulatedKey: CertificateSigner {
    /// ECDSA with the digest (RFC 5758, section 3.2).
    public func signatureAlgorithm(_ digest: DigestAlgorithm) -> [UInt8] {
        DERWriter.sequence(DERWriter.objectIdentifier(ObjectIdentifiers.ecdsa(with: digest)))
    }

    /// The point on its curve.
    public var subjectPublicKey: SubjectPublicKey { SubjectPublicKey(self) }
}

/// An RSA key of the simulation: a device's, or one of its authorities'.
public struct SimulatedRSAKey: CertificateSigner {
    /// The modulus and the exponent.
    public let subjectPublicKey: SubjectPublicKey
    private let privateKey: PrivateKey

    /// Makes a key, which takes a tenth of a second and more.
    ///
    /// - Parameter bits: 2048, 3072 or 4096.
    public init(bits: Int = 2048) throws(CryptoError) {
        privateKey = try PrivateKey.generate(.rsa(bits: bits))
        guard case .rsa(let key) = privateKey.publicKey else { throw CryptoError(.invalidKey, "not an RSA key") }
        subjectPublicKey = SubjectPublicKey(
            derBytes: DERWriter.sequence(
                DERWriter.sequence(
                    DERWriter.objectIdentifier(ObjectIdentifiers.rsaEncryption), DERWriter.null),
                DERWriter.bitString(
                    DERWriter.sequence(
                        DERWriter.integer(magnitude: key.modulus), DERWriter.integer(magnitude: key.exponent)))))
    }

    /// PKCS #1 version 1.5 with SHA-256, whatever the digest (RFC 8017, appendix A.2.4).
    public func signatureAlgorithm(_ digest: DigestAlgorithm) -> [UInt8] {
        DERWriter.sequence(DERWriter.objectIdentifier(ObjectIdentifiers.rsaWithSHA256), DERWriter.null)
    }

    /// Signs with SHA-256.
    ///
    /// - Throws: `CryptoError` (`invalid_argument`) for another digest.
    public func sign(_ message: [UInt8], digest: DigestAlgorithm) throws(CryptoError) -> [UInt8] {
        try privateKey.sign(message, digest: digest)
    }
}
