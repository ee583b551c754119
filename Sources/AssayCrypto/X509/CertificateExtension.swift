/// One extension of a certificate (RFC 5280, section 4.1.2.9).
package struct CertificateExtension: Sendable, Hashable {
    /// What the extension is.
    package let identifier: OID
    /// Whether whoever does not know the extension must refuse the certificate.
    package let isCritical: Bool
    /// The content of `extnValue`: mostly DER again.
    package let value: ArraySlice<UInt8>

    init(reading extensions: inout DERReader) throws(ASN1Error) {
        var fields = try extensions.next(.sequence).reader
        identifier = try fields.objectIdentifier()
        let start = fields.offset
        if let critical = try fields.nextIfPresent(.boolean) {
            // FALSE is the default, and a default is not written.
            guard critical.content.elementsEqual([0xFF]) else { throw ASN1Error(.booleanMalformed, at: start) }
            isCritical = true
        } else {
            isCritical = false
        }
        value = try fields.octetString()
        try fields.finish()
    }
}
