public import AssayCore

/// A version 3 certificate, parsed but not verified (RFC 5280, section 4.1).
///
/// Reading is strict: everything is DER, each extension occurs once, and both signature algorithms are the same. Keys
/// are on P-256 or P-384 or RSA of 2048 to 4096 bits. Signatures are ECDSA or RSA (PKCS #1 v1.5 and PSS) with SHA-256,
/// SHA-384 or SHA-512. All parts are slices of the bytes that were given.
///
/// ``CertificatePathVerifier`` verifies a certificate; ``key`` and ``value(of:)`` say nothing reliable before.
public struct Certificate: Sendable {
    /// The most bytes that are read.
    public static let byteLimit = 16 * 1024
    /// The most extensions that are read.
    public static let extensionLimit = 32

    /// The kinds of keys and signatures that a reader accepts.
    public struct Algorithms: OptionSet, Sendable, Hashable {
        /// The bits of the kinds.
        public let rawValue: Int

        /// A set from its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Keys on P-256 and P-384, and signatures by ECDSA.
        public static let ecdsa = Algorithms(rawValue: 1)
        /// RSA keys, and signatures by RSA.
        public static let rsa = Algorithms(rawValue: 2)
        /// Both.
        public static let all: Algorithms = [.ecdsa, .rsa]
        /// Keys of any other kind, which are read as bytes and verify nothing.
        public static let otherKeys = Algorithms(rawValue: 4)
    }

    /// What some certificates of devices have, and RFC 5280 forbids: each means one thing only.
    public struct Deviations: OptionSet, Sendable, Hashable {
        /// The bits of the deviations.
        public let rawValue: Int

        /// A set from its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// A TRUE of any other octet than FF, which is BER.
        public static let anyTrue = Deviations(rawValue: 1)
        /// A UTCTime and a GeneralizedTime in any year.
        public static let anyFormOfTime = Deviations(rawValue: 2)
        /// A NULL as the parameters of an ECDSA signature.
        public static let nullParametersOfECDSA = Deviations(rawValue: 4)
        /// Zero bits at the end of a key usage.
        public static let trailingZeroBits = Deviations(rawValue: 8)
        /// Another version than 3, although there are extensions.
        public static let anyVersion = Deviations(rawValue: 16)
        /// All that were seen on Android devices.
        public static let ofDevices: Deviations = [
            .anyTrue, .anyFormOfTime, .nullParametersOfECDSA, .trailingZeroBits, .anyVersion,
        ]
    }

    /// The whole certificate, in DER.
    public var encoded: ArraySlice<UInt8> { parts.encoded }
    /// The signed part, `TBSCertificate`.
    public var signedPart: ArraySlice<UInt8> { parts.signedPart }
    /// The content of the serial number: a positive INTEGER of at most 20 bytes, big-endian.
    public var serialNumber: ArraySlice<UInt8> { parts.serialNumber }
    /// How the certificate is signed.
    public var signatureAlgorithm: SignatureAlgorithm { parts.signatureAlgorithm }
    /// The issuer's name, encoded.
    ///
    /// Names are compared byte for byte.
    public var issuer: ArraySlice<UInt8> { parts.issuer }
    /// The subject's name, encoded; it may be an empty sequence.
    public var subject: ArraySlice<UInt8> { parts.subject }
    /// The first instant of the validity.
    public var notBefore: Instant { parts.notBefore }
    /// The last instant of the validity.
    public var notAfter: Instant { parts.notAfter }
    /// The certified key.
    public var key: CertifiedKey { parts.key }
    /// The extensions, in their order.
    public var extensions: [CertificateExtension] { parts.extensions }
    /// The basic constraints; nil when absent.
    public var basicConstraints: BasicConstraints? { parts.basicConstraints }
    /// The key usage; nil when absent.
    public var keyUsage: KeyUsage? { parts.keyUsage }
    /// The signature: for ECDSA a DER `ECDSA-Sig-Value`, for RSA as many bytes as the modulus has.
    public var signature: ArraySlice<UInt8> { parts.signature }

    private let parts: Parts

    /// What was read.
    ///
    /// Many copies of one certificate are made, and each is one reference.
    private final class Parts: Sendable {
        let encoded: ArraySlice<UInt8>
        let signedPart: ArraySlice<UInt8>
        let serialNumber: ArraySlice<UInt8>
        let signatureAlgorithm: SignatureAlgorithm
        let issuer: ArraySlice<UInt8>
        let subject: ArraySlice<UInt8>
        let notBefore: Instant
        let notAfter: Instant
        let key: CertifiedKey
        let extensions: [CertificateExtension]
        let basicConstraints: BasicConstraints?
        let keyUsage: KeyUsage?
        let signature: ArraySlice<UInt8>

        init(reading bytes: ArraySlice<UInt8>, _ accepted: Algorithms, _ allowed: Deviations) throws {
            guard bytes.count <= Certificate.byteLimit else { throw CertificateError(.tooLarge) }
            var certificate = try DERReader.single(.sequence, in: bytes).reader
            let signedPart = try certificate.next(.sequence)
            let algorithm = try certificate.next(.sequence)
            signature = try certificate.octetsOfBitString()
            try certificate.finish()
            encoded = bytes
            self.signedPart = signedPart.encoded
            guard let signatureAlgorithm = try SignatureAlgorithm(reading: algorithm, allowed),
                accepted.contains(signatureAlgorithm.isECDSA ? .ecdsa : .rsa)
            else { throw CertificateError(.signatureAlgorithmUnsupported) }
            self.signatureAlgorithm = signatureAlgorithm

            var fields = signedPart.reader
            let version = try fields.nextIfPresent(.context(0))
            guard allowed.contains(.anyVersion) || version?.content.elementsEqual([2, 1, 2]) == true else {
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
            let anyTime = allowed.contains(.anyFormOfTime)
            notBefore = try validity.time(inAnyForm: anyTime)
            notAfter = try validity.time(inAnyForm: anyTime)
            try validity.finish()
            subject = try DistinguishedName.read(&fields)
            key = try CertifiedKey(reading: &fields, accepted)
            // The unique identifiers that may occur here must not be used (RFC 5280, section 4.1.2.8).
            extensions = try CertificateExtension.list(&fields, allowed)
            try fields.finish()
            basicConstraints = try Certificate.decode(.basicConstraints, of: extensions) { value throws(ASN1Error) in
                try BasicConstraints(extensionValue: value, anyTrue: allowed.contains(.anyTrue))
            }
            keyUsage = try Certificate.decode(.keyUsage, of: extensions) { value throws(ASN1Error) in
                try KeyUsage(extensionValue: value, trailingZeros: allowed.contains(.trailingZeroBits))
            }
        }
    }

    /// The value of an extension: the content of its octet string, mostly DER for a ``DERReader``.
    ///
    /// Nil when the extension is absent.
    public func value(of identifier: OID) -> ArraySlice<UInt8>? {
        extensions.first { $0.identifier == identifier }?.value
    }

    /// Whether the certificate says that it is a certification authority's.
    public var isAuthority: Bool { basicConstraints?.isAuthority ?? false }

    /// Parses a certificate.
    ///
    /// - Parameters:
    ///   - bytes: the DER, with nothing after it.
    ///   - algorithms: the keys and signatures to accept. Name the ones that your authority uses.
    ///   - deviations: what is read although RFC 5280 forbids it.
    /// - Throws: ``CertificateError``, `key_unsupported` or `signature_algorithm_unsupported` for kinds that are not
    ///   accepted.
    public init(
        der bytes: ArraySlice<UInt8>, accepting algorithms: Algorithms = .all, allowing deviations: Deviations = []
    ) throws(CertificateError) {
        do {
            parts = try Parts(reading: bytes, algorithms, deviations)
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError(.malformed, cause: error as? ASN1Error)
        }
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
