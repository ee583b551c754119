/// What a certified key is for (RFC 5280, section 4.2.1.3).
package struct KeyUsage: OptionSet, Sendable, Hashable {
    /// The bits in the order of the standard, bit 0 the highest of 16.
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package init(extensionValue: ArraySlice<UInt8>) throws(ASN1Error) {
        var reader = DERReader(extensionValue)
        rawValue = try reader.namedBits()
        try reader.finish()
    }

    /// Signatures other than those on certificates and revocation lists.
    package static let digitalSignature = KeyUsage(rawValue: 1 << 15)
    /// Signatures on certificates.
    package static let certificateSigning = KeyUsage(rawValue: 1 << 10)
}
