/// Who signed a message, and the signature (RFC 5652, section 5.3).
package struct SignerInformation: Sendable {
    /// The encoded name of the issuer of the signer's certificate.
    package let issuer: ArraySlice<UInt8>
    /// The content of the serial number of the signer's certificate.
    package let serialNumber: ArraySlice<UInt8>
    /// What the signer says beside the content.
    package let attributes: SignedAttributes?
    /// The signature: a DER `ECDSA-Sig-Value`, made with SHA-256.
    package let signature: ArraySlice<UInt8>

    /// Takes an element `SignerInfo`; throws ``ASN1Error`` or ``CMSError``.
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
        // Unsigned attributes could stand here: nobody vouches for them, so there must be none.
        try fields.finish()
    }

    /// Whether a certificate is the one that the signer named.
    package func names(_ certificate: Certificate) -> Bool {
        certificate.issuer == issuer && certificate.serialNumber == serialNumber
    }
}
