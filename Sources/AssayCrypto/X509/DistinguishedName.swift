/// Checks the form of an issuer's or a subject's name (RFC 5280, section 4.1.2.4); names are compared byte for byte.
enum DistinguishedName {
    /// Reads a `Name` and returns its encoding.
    static func read(_ certificate: inout DERReader) throws(ASN1Error) -> ArraySlice<UInt8> {
        let name = try certificate.next(.sequence)
        var relativeNames = name.reader
        while !relativeNames.isAtEnd {
            var attributes = try relativeNames.next(.set).reader
            repeat {
                var attribute = try attributes.next(.sequence).reader
                _ = try attribute.objectIdentifier()
                let start = attribute.offset
                guard try !attribute.next().tag.isConstructed else { throw ASN1Error(.tagUnexpected, at: start) }
                try attribute.finish()
            } while !attributes.isAtEnd
        }
        return name.encoded
    }
}
