public import AssayCore
public import AssayCrypto

/// One SignerInfo of a receipt (RFC 5652, section 5.3), each part free to be wrong.
public struct ReceiptSignature: Sendable {
    /// The bytes that the signature covers, and whether there are signed attributes.
    public enum Coverage: Sendable, CaseIterable {
        /// The content; no signed attributes. All receipts since October 2020.
        case content
        /// The signed attributes, which contain the content's digest: what the standard demands if they are present.
        case signedAttributes
        /// The content, although there are signed attributes: the fault of Apple's receipts before October 2020.
        case contentDespiteAttributes
    }

    /// The issuer that the signer's certificate is looked up by.
    public var issuer: NameTemplate
    /// The serial number that the signer's certificate is looked up by.
    public var serialNumber: [UInt8]
    /// The signer's key; it need not be the key of the signer's certificate.
    public var key: SimulatedKey
    /// The bytes that are signed.
    public var coverage: Coverage
    /// The signing time among the signed attributes; nil for none.
    public var signingTime: Instant?
    /// The content's type among the signed attributes.
    public var contentType: [UInt64] = ObjectIdentifiers.data
    /// The digest of content and signature.
    public var digest = DigestAlgorithm.sha256
    /// Set to write these bytes in the place of a signature.
    public var signature: [UInt8]?

    /// The signature that the holder of a certificate makes.
    public init(_ signer: SimulatedAuthority, coverage: Coverage = .content) {
        issuer = signer.template.issuer
        serialNumber = signer.template.serialNumber
        key = signer.key
        self.coverage = coverage
    }

    func derBytes(over content: [UInt8]) throws(CryptoError) -> [UInt8] {
        // In the order that DER demands of a SET OF: the shorter first.
        let attributes = DERWriter.set(
            attribute(ObjectIdentifiers.contentType, DERWriter.objectIdentifier(contentType)),
            signingTime.map { attribute(ObjectIdentifiers.signingTime, DERWriter.time($0)) } ?? [],
            attribute(ObjectIdentifiers.messageDigest, DERWriter.octetString(SHA256.hash(content))))
        // The signature covers the attributes as a SET OF; in the message they carry a context tag.
        let tagged = coverage == .content ? [] : [0xA0] + attributes.dropFirst()
        let message = coverage == .signedAttributes ? attributes : content
        let bytes: [UInt8]
        if let signature { bytes = signature } else { bytes = try key.sign(message, digest: digest) }
        return DERWriter.sequence(
            DERWriter.integer(1),
            DERWriter.sequence(issuer.derBytes, DERWriter.integer(magnitude: serialNumber)),
            ReceiptTemplate.algorithm(digest),
            tagged,
            DERWriter.sequence(DERWriter.objectIdentifier(ObjectIdentifiers.ecdsa(with: digest))),
            DERWriter.octetString(bytes))
    }

    private func attribute(_ type: [UInt64], _ value: [UInt8]) -> [UInt8] {
        DERWriter.sequence(DERWriter.objectIdentifier(type), DERWriter.set(value))
    }
}
