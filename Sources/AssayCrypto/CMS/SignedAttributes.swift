package import AssayKit

/// What a signer says beside the content (RFC 5652, section 5.3): four known attributes, each at most once.
package struct SignedAttributes: Sendable {
    /// What a signature over the attributes is over: their `SET OF`, in DER (RFC 5652, section 5.4).
    package let signedPart: [UInt8]
    /// The digest of the content that the attributes claim.
    package let messageDigest: ArraySlice<UInt8>
    /// When the signer says to have signed.
    package let signingTime: Instant?

    /// Takes the element `[0] IMPLICIT SignedAttributes`; throws ``ASN1Error`` or ``CMSError``.
    init(_ element: ASN1Element) throws {
        var messageDigest: ArraySlice<UInt8>?
        var signingTime: Instant?
        var contentType: OID?
        var seen: [OID] = []
        var previous: ArraySlice<UInt8> = []
        var reader = element.reader
        while !reader.isAtEnd {
            let attribute = try reader.next(.sequence)
            // The order of a SET OF in DER also shows that no attribute is there twice with one value.
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
