import AssayCrypto
import AssayKit
import Testing

/// A change to a good certificate, and the error that it must cause.
struct CertificateCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: CertificateError.Code?
    let change: @Sendable (inout X509TestCertificate) -> Void

    init(
        _ name: String, _ code: CertificateError.Code?,
        _ change: @escaping @Sendable (inout X509TestCertificate) -> Void
    ) {
        testDescription = name
        self.code = code
        self.change = change
    }
}

struct X509CertificateTests {
    private static let point: [UInt8] = [4] + [UInt8](repeating: 7, count: 64)

    @Test("Only certificates of the one form are read", arguments: cases)
    func forms(_ form: CertificateCase) {
        var certificate = X509TestCertificate(key: X509TestCertificate.keyInfo(.p256, Self.point))
        certificate.extensions = X509TestCertificate.leaf
        form.change(&certificate)
        #expect(Self.code(of: certificate.unsigned) == form.code)
    }

    static let cases: [CertificateCase] = [
        CertificateCase("as it was", nil) { _ in },
        CertificateCase("no extensions", nil) { $0.extensions = [] },
        CertificateCase("no version", .versionUnsupported) { $0.version = [] },
        CertificateCase("version 2", .versionUnsupported) { $0.version = DER.context(0, DER.integer([1])) },
        CertificateCase("a serial number of 0", .serialNumberInvalid) { $0.serialNumber = [0] },
        CertificateCase("a negative serial number", .serialNumberInvalid) { $0.serialNumber = [0x80] },
        CertificateCase("a serial number of 20 bytes", nil) { $0.serialNumber = [UInt8](repeating: 1, count: 20) },
        CertificateCase("a serial number of 21 bytes", .serialNumberInvalid) {
            $0.serialNumber = [UInt8](repeating: 1, count: 21)
        },
        CertificateCase("a serial number not in its shortest form", .malformed) { $0.serialNumber = [0, 1] },
        CertificateCase("ECDSA with SHA-384", nil) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA384))
        },
        CertificateCase("ECDSA with SHA-512", .signatureAlgorithmUnsupported) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(OID(1, 2, 840, 10045, 4, 3, 4)))
        },
        CertificateCase("RSA", .signatureAlgorithmUnsupported) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(OID(1, 2, 840, 113549, 1, 1, 11)), [5, 0])
        },
        CertificateCase("ECDSA with parameters", .signatureAlgorithmUnsupported) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA256), [5, 0])
        },
        CertificateCase("two signature algorithms", .signatureAlgorithmsDiffer) {
            $0.innerSignatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA384))
        },
        CertificateCase("an impossible time", .malformed) { $0.notAfter = "261331235959Z" },
        CertificateCase("a key on an unnamed curve", .keyUnsupported) {
            $0.key = DER.sequence(
                DER.sequence(DER.identifier(.ecPublicKey), DER.sequence()), DER.wrap(3, [0] + point))
        },
        CertificateCase("a key on secp256k1", .keyUnsupported) {
            $0.key = X509TestCertificate.keyInfo(OID(1, 3, 132, 0, 10), point)
        },
        CertificateCase("an RSA key", .keyUnsupported) {
            $0.key = DER.sequence(
                DER.sequence(DER.identifier(OID(1, 2, 840, 113549, 1, 1, 1)), [5, 0]), DER.wrap(3, [0] + point))
        },
        CertificateCase("a compressed point", .keyInvalid) {
            $0.key = X509TestCertificate.keyInfo(.p256, [2] + point[1...32])
        },
        CertificateCase("a point of the other curve", .keyInvalid) {
            $0.key = X509TestCertificate.keyInfo(.p384, point)
        },
        CertificateCase("unused bits in the key", .malformed) {
            $0.key = DER.sequence(
                DER.sequence(DER.identifier(.ecPublicKey), DER.identifier(.p256)), DER.wrap(3, [1] + point))
        },
        CertificateCase("an empty list of extensions", .malformed) { $0.extensions = [[]] },
        CertificateCase("an extension twice", .extensionDuplicated) {
            $0.extensions.append(DER.extension(.keyUsage, false, [3, 2, 7, 0x80]))
        },
        CertificateCase("32 extensions", nil) { certificate in
            certificate.extensions += (0..<30).map { DER.extension(OID(1, 3, $0), false, []) }
        },
        CertificateCase("33 extensions", .tooLarge) { certificate in
            certificate.extensions += (0..<31).map { DER.extension(OID(1, 3, $0), false, []) }
        },
        CertificateCase("too many bytes", .tooLarge) {
            $0.extensions.append(DER.extension(OID(1, 3, 1), false, [UInt8](repeating: 0, count: 16_384)))
        },
        CertificateCase("criticality FALSE written out", .malformed) {
            $0.extensions = [DER.sequence(DER.identifier(.keyUsage), [1, 1, 0], DER.octets([3, 2, 7, 0x80]))]
        },
        CertificateCase("criticality 01", .malformed) {
            $0.extensions = [DER.sequence(DER.identifier(.keyUsage), [1, 1, 1], DER.octets([3, 2, 7, 0x80]))]
        },
        CertificateCase("basic constraints with FALSE written out", .extensionMalformed) {
            $0.extensions = [DER.extension(.basicConstraints, true, DER.sequence([1, 1, 0]))]
        },
        CertificateCase("a negative path length", .extensionMalformed) {
            $0.extensions = [DER.extension(.basicConstraints, true, DER.sequence([1, 1, 0xFF], [2, 1, 0xFF]))]
        },
        CertificateCase("a byte behind basic constraints", .extensionMalformed) {
            $0.extensions = [DER.extension(.basicConstraints, true, DER.sequence() + [0])]
        },
        CertificateCase("key usage with trailing zero bits", .extensionMalformed) {
            $0.extensions = [DER.extension(.keyUsage, true, [3, 2, 0, 0x80])]
        },
        CertificateCase("a unique identifier behind the extensions", .malformed) {
            $0.behindExtensions = [0x81, 1, 0]
        },
        CertificateCase("something behind the signature", .malformed) { $0.behindSignature = [5, 0] },
    ]

    @Test func partsAreRead() throws {
        var built = X509TestCertificate(key: X509TestCertificate.keyInfo(.p256, Self.point))
        built.extensions = X509TestCertificate.authority(pathLength: 3)
        built.serialNumber = [0x12, 0x34]
        let bytes = built.unsigned
        let certificate = try Certificate(der: bytes[...])
        #expect(Array(certificate.encoded) == bytes)
        #expect(Array(certificate.signedPart) == built.signedPart)
        #expect(Array(certificate.serialNumber) == [0x12, 0x34])
        #expect(Array(certificate.issuer) == DER.name("issuer"))
        #expect(Array(certificate.subject) == DER.name("subject"))
        #expect(certificate.notBefore.description == "2026-01-01T00:00:00Z")
        #expect(certificate.notAfter.description == "2026-12-31T23:59:59Z")
        #expect(certificate.key.curve == .p256)
        #expect(Array(certificate.key.point) == Self.point)
        #expect(certificate.isAuthority)
        #expect(certificate.basicConstraints?.pathLength == 3)
        #expect(certificate.keyUsage == [.certificateSigning, KeyUsage(rawValue: 1 << 9)])
        #expect(certificate.signatureDigest == .sha256)
        #expect(certificate.extensions.map(\.isCritical) == [true, true])
    }

    @Test func aDuplicatedExtensionIsNamed() {
        var built = X509TestCertificate(key: X509TestCertificate.keyInfo(.p256, Self.point))
        built.extensions = [DER.extension(OID(1, 2, 3), false, []), DER.extension(OID(1, 2, 3), true, [])]
        #expect(throws: CertificateError(.extensionDuplicated, extension: OID(1, 2, 3))) {
            try Certificate(der: built.unsigned[...])
        }
    }

    @Test func everyShorterAndLongerFormIsRefused() {
        var built = X509TestCertificate(key: X509TestCertificate.keyInfo(.p256, Self.point))
        built.extensions = X509TestCertificate.leaf
        let bytes = built.unsigned
        for count in bytes.indices { #expect(Self.code(of: Array(bytes.prefix(count))) != nil) }
        #expect(Self.code(of: bytes + [0]) == .malformed)
    }

    @Test("An anchor is an authority that signs certificates")
    func anchors() throws {
        let key = try PrivateKey.generate(.ec(.p256))
        let good = X509TestCertificate(key, subject: "root", issuer: "root", isAuthority: true)
        #expect(try TrustAnchor(der: good.unsigned).fingerprint == SHA256.hash(good.unsigned))
        let leaf = X509TestCertificate(key, subject: "root", issuer: "root", isAuthority: false)
        #expect(throws: CertificateError(.notAuthority)) { try TrustAnchor(der: leaf.unsigned) }
        var noSigner = good
        noSigner.extensions[1] = DER.extension(.keyUsage, true, [3, 2, 7, 0x80])
        #expect(throws: CertificateError(.notAuthority)) { try TrustAnchor(der: noSigner.unsigned) }
        var noPoint = good
        noPoint.key = X509TestCertificate.keyInfo(.p256, Self.point)
        #expect(throws: CertificateError(.keyInvalid)) { try TrustAnchor(der: noPoint.unsigned) }
    }

    private static func code(of bytes: [UInt8]) -> CertificateError.Code? {
        do {
            _ = try Certificate(der: bytes[...])
            return nil
        } catch {
            return error.code
        }
    }
}
