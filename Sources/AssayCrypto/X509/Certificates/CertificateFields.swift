/// One extension of a certificate (RFC 5280, section 4.1.2.9).
public struct CertificateExtension: Sendable, Hashable {
    /// What the extension is.
    public let identifier: OID
    /// Whether a reader that does not know the extension must refuse the certificate.
    public let isCritical: Bool
    /// The content of `extnValue`: mostly DER again.
    public let value: ArraySlice<UInt8>

    private init(
        reading extensions: inout DERReader, _ allowed: Certificate.Deviations
    ) throws(ASN1Error) {
        var fields = try extensions.next(.sequence).reader
        identifier = try fields.objectIdentifier()
        isCritical = try fields.trueOrAbsent(anyTrue: allowed.contains(.anyTrue))
        value = try fields.octetString()
        try fields.finish()
    }

    /// Reads the extensions of a certificate; throws ``ASN1Error`` or ``CertificateError``.
    static func list(
        _ fields: inout DERReader, _ allowed: Certificate.Deviations
    ) throws -> [CertificateExtension] {
        guard let wrapper = try fields.nextIfPresent(.context(3)) else { return [] }
        var reader = try DERReader.single(.sequence, in: wrapper.content).reader
        var extensions: [CertificateExtension] = []
        repeat {
            let found = try CertificateExtension(reading: &reader, allowed)
            guard !extensions.contains(where: { $0.identifier == found.identifier }) else {
                throw CertificateError(.extensionDuplicated, extension: found.identifier)
            }
            guard extensions.count < Certificate.extensionLimit else { throw CertificateError(.tooLarge) }
            extensions.append(found)
        } while !reader.isAtEnd
        return extensions
    }
}

/// Whether a certificate may certify others, and how long the path below it may be (RFC 5280, section 4.2.1.9).
public struct BasicConstraints: Sendable, Hashable {
    /// Whether the subject is a certification authority.
    public let isAuthority: Bool
    /// How many intermediates may follow; nil for any number.
    public let pathLength: Int?

    /// Reads the value of the extension.
    public init(extensionValue: ArraySlice<UInt8>) throws(ASN1Error) {
        try self.init(extensionValue: extensionValue, anyTrue: false)
    }

    init(extensionValue: ArraySlice<UInt8>, anyTrue: Bool) throws(ASN1Error) {
        var fields = try DERReader.single(.sequence, in: extensionValue).reader
        let isAuthority = try fields.trueOrAbsent(anyTrue: anyTrue)
        let pathLength = isAuthority && !fields.isAtEnd ? try fields.smallInteger() : nil
        try fields.finish()
        self.isAuthority = isAuthority
        self.pathLength = pathLength
    }
}

/// What a certified key is for (RFC 5280, section 4.2.1.3).
public struct KeyUsage: OptionSet, Sendable, Hashable {
    /// The bits in the order of the standard: bit 0 is the highest of 16.
    public let rawValue: UInt16

    /// A set from its bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Reads the value of the extension.
    public init(extensionValue: ArraySlice<UInt8>) throws(ASN1Error) {
        try self.init(extensionValue: extensionValue, trailingZeros: false)
    }

    init(extensionValue: ArraySlice<UInt8>, trailingZeros: Bool) throws(ASN1Error) {
        var reader = DERReader(extensionValue)
        rawValue = try reader.namedBits(trailingZeros: trailingZeros)
        try reader.finish()
    }

    /// Signatures other than those on certificates and revocation lists.
    public static let digitalSignature = KeyUsage(rawValue: 1 << 15)
    /// Signatures on certificates.
    public static let certificateSigning = KeyUsage(rawValue: 1 << 10)
}

/// Checks the form of an issuer's or a subject's name (RFC 5280, section 4.1.2.4).
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
