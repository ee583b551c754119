/// Whether a certificate may certify others, and how long the path below it may be (RFC 5280, section 4.2.1.9).
package struct BasicConstraints: Sendable, Hashable {
    /// Whether the subject is a certification authority.
    package let isAuthority: Bool
    /// How many intermediates may follow; nil for any number.
    package let pathLength: Int?

    package init(extensionValue: ArraySlice<UInt8>) throws(ASN1Error) {
        var fields = try DERReader.single(.sequence, in: extensionValue).reader
        let start = fields.offset
        var isAuthority = false
        var pathLength: Int?
        if !fields.isAtEnd {
            // FALSE is the default, and a default is not written.
            isAuthority = try fields.boolean()
            guard isAuthority else { throw ASN1Error(.booleanMalformed, at: start) }
            if !fields.isAtEnd { pathLength = try fields.smallInteger() }
        }
        try fields.finish()
        self.isAuthority = isAuthority
        self.pathLength = pathLength
    }
}
