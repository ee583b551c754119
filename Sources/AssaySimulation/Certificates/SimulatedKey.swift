public import AssayCore
public import AssayCrypto

/// A private key of the simulation: a device's, or one of its authorities'.
public struct SimulatedKey: Sendable {
    /// P-256 for devices, P-384 for authorities as Apple has them.
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

/// Writes PEM blocks (RFC 7468).
enum PEMWriter {
    /// A block with lines of 64 characters and a final line break.
    static func block(_ label: String, _ der: [UInt8]) -> String {
        let text = Array(Base64.encode(der).utf8)
        let lines = stride(from: 0, to: text.count, by: 64).map {
            String(decoding: text[$0..<min($0 + 64, text.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }
}
