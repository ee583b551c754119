public import AssayCore
public import AssayCrypto

/// Every field of a certificate before it is signed, each free to be wrong.
public struct CertificateTemplate: Sendable {
    /// Big-endian bytes of a non-negative number.
    public var serialNumber: [UInt8]
    /// The signer, according to the certificate.
    public var issuer: NameTemplate
    /// The subject of the certificate.
    public var subject: NameTemplate
    /// From when on it is valid.
    public var notBefore: Instant
    /// Until when it is valid.
    public var notAfter: Instant
    /// The key that it certifies.
    public var publicKey: SubjectPublicKey
    /// In the order in which they are written.
    public var extensions: [ExtensionTemplate]
    /// The digest of the signature.
    ///
    /// Apple's P-384 authority signs leaves with SHA-256. RSA keys sign with SHA-256 only.
    public var digest: DigestAlgorithm
    /// The real signer; it may differ from `issuer`.
    public var signer: any CertificateSigner

    /// A certificate of these fields; ``signed()`` signs it.
    public init(
        serialNumber: [UInt8], issuer: NameTemplate, subject: NameTemplate, notBefore: Instant,
        notAfter: Instant, publicKey: SubjectPublicKey, extensions: [ExtensionTemplate], digest: DigestAlgorithm,
        signer: any CertificateSigner
    ) {
        self.serialNumber = serialNumber
        self.issuer = issuer
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.publicKey = publicKey
        self.extensions = extensions
        self.digest = digest
        self.signer = signer
    }

    /// The signed certificate in DER (RFC 5280, section 4.1).
    public func signed() throws(CryptoError) -> [UInt8] {
        let algorithm = signer.signatureAlgorithm(digest)
        let toBeSigned = DERWriter.sequence(
            DERWriter.context(0, DERWriter.integer(2)),
            DERWriter.integer(magnitude: serialNumber),
            algorithm,
            issuer.derBytes,
            DERWriter.sequence(DERWriter.time(notBefore), DERWriter.time(notAfter)),
            subject.derBytes,
            publicKey.derBytes,
            DERWriter.context(3, DERWriter.value(0x30, extensions.flatMap(\.derBytes))))
        let signature = try signer.sign(toBeSigned, digest: digest)
        return DERWriter.sequence(toBeSigned, algorithm, DERWriter.bitString(signature))
    }

    /// Puts an extension in the place of those of its type, or at the end.
    public mutating func replaceExtension(_ replacement: ExtensionTemplate) {
        let index = extensions.firstIndex { $0.type == replacement.type } ?? extensions.endIndex
        extensions.removeAll { $0.type == replacement.type }
        extensions.insert(replacement, at: min(index, extensions.endIndex))
    }

    /// Removes all extensions of a type.
    public mutating func removeExtension(_ type: [UInt64]) {
        extensions.removeAll { $0.type == type }
    }
}

extension ObjectIdentifiers {
    static func ecdsa(with digest: DigestAlgorithm) -> [UInt64] {
        switch digest {
        case .sha256: ecdsaWithSHA256
        case .sha384: ecdsaWithSHA384
        case .sha512: ecdsaWithSHA512
        }
    }
}

/// The public key in a certificate; nothing checks it.
public struct SubjectPublicKey: Sendable, Equatable {
    /// The arcs of the named curve; none for a key that is no point.
    public var curve: [UInt64]
    /// The point, as X9.63 writes it: 04, x, y; empty for a key that is no point.
    public var point: [UInt8]
    private let encoded: [UInt8]?

    /// A key of a curve and a point; both may be wrong.
    public init(curve: [UInt64], point: [UInt8]) {
        self.curve = curve
        self.point = point
        encoded = nil
    }

    /// A key of any kind, from the DER of its SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
    public init(derBytes: [UInt8]) {
        curve = []
        point = []
        encoded = derBytes
    }

    /// The DER of the SubjectPublicKeyInfo; for a point, that of RFC 5480, section 2.
    public var derBytes: [UInt8] {
        encoded
            ?? DERWriter.sequence(
                DERWriter.sequence(
                    DERWriter.objectIdentifier(ObjectIdentifiers.ecPublicKey), DERWriter.objectIdentifier(curve)),
                DERWriter.bitString(point))
    }

    /// The public half of a simulated key.
    public init(_ key: SimulatedKey) {
        self.init(curve: Self.arcs(of: key.curve), point: key.point)
    }

    static func arcs(of curve: EllipticCurve) -> [UInt64] {
        switch curve {
        case .p256: ObjectIdentifiers.p256
        case .p384: ObjectIdentifiers.p384
        }
    }
}
