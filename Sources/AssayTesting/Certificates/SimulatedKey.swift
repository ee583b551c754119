public import AssayCrypto
public import AssayKit

/// A private key of the simulation: a device's, or one of its authorities'.
public struct SimulatedKey: Sendable {
    public let curve: EllipticCurve
    /// The public point, as X9.63 writes it: 04, x, y.
    public let point: [UInt8]
    private let privateKey: PrivateKey

    /// A key whose scalar comes from a random source; its top bit is clear, so that it is below the curve's order.
    public init(_ curve: EllipticCurve, random: Randomness = .system) throws(CryptoError) {
        let scalar = [random.bytes(1).first.map { $0 & 0x7F } ?? 1] + random.bytes(curve.coordinateSize - 1)
        // The public point is left out (RFC 5915, section 3), so that OpenSSL computes it.
        let encoded = DERWriter.sequence(
            DERWriter.integer(1), DERWriter.octetString(scalar),
            DERWriter.context(0, DERWriter.objectIdentifier(SubjectPublicKey.arcs(of: curve))))
        let key = try PrivateKey(pem: Array(PEMWriter.block("EC PRIVATE KEY", encoded).utf8))
        guard case .ec(let publicKey) = key.publicKey else {
            throw CryptoError(.invalidKey, "not an elliptic-curve key")
        }
        privateKey = key
        self.curve = curve
        point = publicKey.x963
    }

    /// The private key as PKCS #8 in PEM, for a server that is to speak TLS with it.
    public func pem() throws(CryptoError) -> String {
        try privateKey.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// App Attest's key identifier: SHA-256 of the public point.
    public var identifier: [UInt8] { SHA256.hash(point) }

    /// The x coordinate of the public point.
    public var x: [UInt8] { Array(point.dropFirst().prefix(curve.coordinateSize)) }

    /// The y coordinate of the public point.
    public var y: [UInt8] { Array(point.suffix(curve.coordinateSize)) }

    /// An ECDSA signature in DER over the digest of a message.
    public func sign(_ message: [UInt8], digest: DigestAlgorithm) throws(CryptoError) -> [UInt8] {
        try privateKey.sign(message, as: .der, digest: digest)
    }
}
