package import AssayKit

/// A version 3 certificate with an elliptic-curve key and an ECDSA signature, taken apart but not verified.
///
/// Only what Apple's certification authorities use is read, and that strictly: everything is DER, each extension is
/// there once, the two signature algorithms are the same. All parts are slices of the bytes that were given.
package struct Certificate: Sendable {
    /// The most bytes that are read.
    package static let byteLimit = 16 * 1024
    /// The most extensions that are read.
    package static let extensionLimit = 32

    /// The whole certificate.
    package let encoded: ArraySlice<UInt8>
    /// What the signature is over.
    package let signedPart: ArraySlice<UInt8>
    /// The content of the serial number, a positive INTEGER.
    package let serialNumber: ArraySlice<UInt8>
    /// The digest of the ECDSA signature.
    package let signatureDigest: DigestAlgorithm
    /// The issuer's name, encoded.
    package let issuer: ArraySlice<UInt8>
    /// The subject's name, encoded; it may be empty.
    package let subject: ArraySlice<UInt8>
    /// The first instant of the validity.
    package let notBefore: Instant
    /// The last instant of the validity.
    package let notAfter: Instant
    /// The certified key.
    package let key: CertifiedKey
    /// The extensions, in their order.
    package let extensions: [CertificateExtension]
    /// The basic constraints, where there are any.
    package let basicConstraints: BasicConstraints?
    /// The key usage, where there is one.
    package let keyUsage: KeyUsage?
    /// The signature: a DER `ECDSA-Sig-Value`.
    package let signature: ArraySlice<UInt8>

    /// The value of an extension; nil where there is none.
    package func value(of identifier: OID) -> ArraySlice<UInt8>? {
        extensions.first { $0.identifier == identifier }?.value
    }

    /// Whether the certificate claims to be a certification authority's.
    package var isAuthority: Bool { basicConstraints?.isAuthority ?? false }

    /// Takes a certificate apart.
    package init(der bytes: ArraySlice<UInt8>) throws(CertificateError) {
        do {
            try self.init(reading: bytes)
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError(.malformed, cause: error as? ASN1Error)
        }
    }

    private init(reading bytes: ArraySlice<UInt8>) throws {
        guard bytes.count <= Self.byteLimit else { throw CertificateError(.tooLarge) }
        var certificate = try DERReader.single(.sequence, in: bytes).reader
        let signedPart = try certificate.next(.sequence)
        let algorithm = try certificate.next(.sequence)
        signature = try certificate.octetsOfBitString()
        try certificate.finish()
        encoded = bytes
        self.signedPart = signedPart.encoded
        signatureDigest = try Self.digest(of: algorithm)

        var fields = signedPart.reader
        guard let version = try fields.nextIfPresent(.context(0)), version.content.elementsEqual([2, 1, 2]) else {
            throw CertificateError(.versionUnsupported)
        }
        serialNumber = try fields.integer()
        guard serialNumber.count <= 20, let first = serialNumber.first, first & 0x80 == 0,
            serialNumber.contains(where: { $0 != 0 })
        else { throw CertificateError(.serialNumberInvalid) }
        guard try fields.next(.sequence).encoded == algorithm.encoded else {
            throw CertificateError(.signatureAlgorithmsDiffer)
        }
        issuer = try DistinguishedName.read(&fields)
        var validity = try fields.next(.sequence).reader
        notBefore = try validity.time()
        notAfter = try validity.time()
        try validity.finish()
        subject = try DistinguishedName.read(&fields)
        key = try CertifiedKey(reading: &fields)
        // The unique identifiers that could stand here must not be used (RFC 5280, section 4.1.2.8).
        extensions = try Self.extensions(&fields)
        try fields.finish()
        basicConstraints = try Self.decode(.basicConstraints, of: extensions, BasicConstraints.init(extensionValue:))
        keyUsage = try Self.decode(.keyUsage, of: extensions, KeyUsage.init(extensionValue:))
    }

    private static func digest(of algorithm: ASN1Element) throws -> DigestAlgorithm {
        var fields = algorithm.reader
        let identifier = try fields.objectIdentifier()
        guard fields.isAtEnd else { throw CertificateError(.signatureAlgorithmUnsupported) }
        switch identifier {
        case .ecdsaWithSHA256: return .sha256
        case .ecdsaWithSHA384: return .sha384
        default: throw CertificateError(.signatureAlgorithmUnsupported)
        }
    }

    private static func extensions(_ fields: inout DERReader) throws -> [CertificateExtension] {
        guard let wrapper = try fields.nextIfPresent(.context(3)) else { return [] }
        var reader = try DERReader.single(.sequence, in: wrapper.content).reader
        var extensions: [CertificateExtension] = []
        repeat {
            let found = try CertificateExtension(reading: &reader)
            guard !extensions.contains(where: { $0.identifier == found.identifier }) else {
                throw CertificateError(.extensionDuplicated, extension: found.identifier)
            }
            guard extensions.count < extensionLimit else { throw CertificateError(.tooLarge) }
            extensions.append(found)
        } while !reader.isAtEnd
        return extensions
    }

    private static func decode<Value>(
        _ identifier: OID, of extensions: [CertificateExtension],
        _ decode: (ArraySlice<UInt8>) throws(ASN1Error) -> Value
    ) throws(CertificateError) -> Value? {
        guard let found = extensions.first(where: { $0.identifier == identifier }) else { return nil }
        do {
            return try decode(found.value)
        } catch {
            throw CertificateError(.extensionMalformed, extension: identifier, cause: error)
        }
    }
}
