public import AssayCore

/// The signer of a message, and the signature (RFC 5652, section 5.3).
public struct SignerInformation: Sendable {
    /// The encoded name of the issuer of the signer's certificate.
    public let issuer: ArraySlice<UInt8>
    /// The content of the serial number of the signer's certificate.
    public let serialNumber: ArraySlice<UInt8>
    /// The signer's statements in addition to the content; nil when there are no attributes.
    public let attributes: SignedAttributes?
    /// The signature: a DER `ECDSA-Sig-Value`, made with SHA-256.
    public let signature: ArraySlice<UInt8>

    /// Reads an element `SignerInfo`; throws ``ASN1Error`` or ``CMSError``.
    init(_ element: ASN1Element) throws {
        var fields = element.reader
        // Version 1: the certificate is named by issuer and serial number.
        guard try fields.smallInteger() == 1 else { throw CMSError(.kindUnsupported) }
        var identifier = try fields.next(.sequence).reader
        issuer = try DistinguishedName.read(&identifier)
        serialNumber = try identifier.integer()
        try identifier.finish()
        try CMSAlgorithm.readSHA256(&fields)
        attributes = try fields.nextIfPresent(.context(0)).map { try SignedAttributes($0) }
        var algorithm = try fields.next(.sequence).reader
        try CMSAlgorithm.readECDSAWithSHA256(&algorithm)
        signature = try fields.octetString()
        // Other messages may have unsigned attributes here. Nothing proves them, so none are allowed.
        try fields.finish()
    }

    /// Whether a certificate is the one that the signer names.
    public func names(_ certificate: Certificate) -> Bool {
        certificate.issuer == issuer && certificate.serialNumber == serialNumber
    }
}

/// The signer's statements in addition to the content (RFC 5652, section 5.3): four known attributes, each at most
/// once.
public struct SignedAttributes: Sendable {
    /// What a signature over the attributes is over: their `SET OF`, in DER (RFC 5652, section 5.4).
    public let signedPart: [UInt8]
    /// The digest of the content that the attributes claim.
    public let messageDigest: ArraySlice<UInt8>
    /// When the signer claims to have signed; nil when it does not say.
    public let signingTime: Instant?

    /// Reads the element `[0] IMPLICIT SignedAttributes`; throws ``ASN1Error`` or ``CMSError``.
    init(_ element: ASN1Element) throws {
        var messageDigest: ArraySlice<UInt8>?
        var signingTime: Instant?
        var contentType: OID?
        var seen: [OID] = []
        var previous: ArraySlice<UInt8> = []
        var reader = element.reader
        while !reader.isAtEnd {
            let attribute = try reader.next(.sequence)
            // The order of a SET OF in DER also shows that no attribute is repeated with the same value.
            guard previous.lexicographicallyPrecedes(attribute.encoded) else { throw CMSError(.attributesMalformed) }
            previous = attribute.encoded
            var fields = attribute.reader
            let identifier = try fields.objectIdentifier()
            var value = try fields.next(.set).reader
            try fields.finish()
            guard !seen.contains(identifier) else { throw CMSError(.attributesMalformed) }
            seen.append(identifier)
            switch identifier {
            case .cmsContentType: contentType = try value.objectIdentifier()
            case .cmsMessageDigest: messageDigest = try value.octetString()
            case .cmsSigningTime: signingTime = try value.time()
            case .cmsAlgorithmProtection: try Self.readAlgorithmProtection(&value)
            default: throw CMSError(.attributesMalformed)
            }
            try value.finish()
        }
        guard contentType == .cmsData, let messageDigest else { throw CMSError(.attributesMalformed) }
        self.messageDigest = messageDigest
        self.signingTime = signingTime
        signedPart = [0x31] + element.encoded.dropFirst()
    }

    /// The attribute repeats the two algorithms of the signer (RFC 6211, section 2).
    private static func readAlgorithmProtection(_ value: inout DERReader) throws {
        var fields = try value.next(.sequence).reader
        try CMSAlgorithm.readSHA256(&fields)
        var signature = try fields.next(.context(1)).reader
        try CMSAlgorithm.readECDSAWithSHA256(&signature)
        try fields.finish()
    }
}

/// Reads the algorithm identifiers of a signed message: SHA-256, and ECDSA with it.
enum CMSAlgorithm {
    /// SHA-256; its parameters are absent or NULL, which mean the same (RFC 5754, section 2).
    static func readSHA256(_ reader: inout DERReader) throws {
        guard try DigestAlgorithm(reading: &reader) == .sha256 else { throw CMSError(.algorithmUnsupported) }
    }

    /// ECDSA with SHA-256, without parameters (RFC 5754, section 3.3).
    static func readECDSAWithSHA256(_ fields: inout DERReader) throws {
        guard try fields.objectIdentifier() == .ecdsaWithSHA256 else { throw CMSError(.algorithmUnsupported) }
        try fields.finish()
    }
}
