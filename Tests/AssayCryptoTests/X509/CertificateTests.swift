import AssayCore
import AssayCrypto
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

struct CertificateTests {
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
        CertificateCase("ECDSA with SHA-512", nil) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA512))
        },
        CertificateCase("ECDSA with SHA-1", .signatureAlgorithmUnsupported) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(OID(1, 2, 840, 10045, 4, 1)))
        },
        CertificateCase("RSA with SHA-256", nil) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.rsaWithSHA256), [5, 0])
        },
        CertificateCase("RSA with SHA-256, parameters absent", nil) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.rsaWithSHA256))
        },
        CertificateCase("RSA with other parameters", .malformed) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.rsaWithSHA256), [2, 1, 0])
        },
        CertificateCase("RSA with two parameters", .signatureAlgorithmUnsupported) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.rsaWithSHA256), [5, 0], [5, 0])
        },
        CertificateCase("RSA with SHA-1", .signatureAlgorithmUnsupported) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(OID(1, 2, 840, 113549, 1, 1, 5)), [5, 0])
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
        CertificateCase("an RSA key", nil) { $0.key = X509TestCertificate.rsaKeyInfo() },
        CertificateCase("an RSA key of 4096 bits", nil) {
            $0.key = X509TestCertificate.rsaKeyInfo(modulus: [0, 0x80] + [UInt8](repeating: 7, count: 511))
        },
        CertificateCase("an RSA key of 2040 bits", .keyUnsupported) {
            $0.key = X509TestCertificate.rsaKeyInfo(modulus: [0, 0x80] + [UInt8](repeating: 7, count: 254))
        },
        CertificateCase("an RSA key of 4097 bits", .keyUnsupported) {
            $0.key = X509TestCertificate.rsaKeyInfo(modulus: [0x01] + [UInt8](repeating: 7, count: 512))
        },
        CertificateCase("an RSA key with a negative modulus", .keyInvalid) {
            $0.key = X509TestCertificate.rsaKeyInfo(modulus: [0x80] + [UInt8](repeating: 7, count: 255))
        },
        CertificateCase("an RSA key with a negative exponent", .keyInvalid) {
            $0.key = X509TestCertificate.rsaKeyInfo(exponent: [0x80])
        },
        CertificateCase("an RSA key with a modulus not in its shortest form", .malformed) {
            $0.key = X509TestCertificate.rsaKeyInfo(modulus: [0, 0x7F] + [UInt8](repeating: 7, count: 255))
        },
        CertificateCase("an RSA key without parameters", .malformed) {
            $0.key = X509TestCertificate.rsaKeyInfo(parameters: [])
        },
        CertificateCase("an RSA key with a curve", .keyUnsupported) {
            $0.key = X509TestCertificate.rsaKeyInfo(parameters: DER.identifier(.p256))
        },
        CertificateCase("an RSA key with something behind it", .malformed) {
            $0.key = X509TestCertificate.rsaKeyInfo(behind: [5, 0])
        },
        CertificateCase("an RSA key that is a point", .malformed) {
            $0.key = DER.sequence(
                DER.sequence(DER.identifier(.rsaEncryption), [5, 0]), DER.wrap(3, [0] + point))
        },
        CertificateCase("an RSA key for PSS alone", .keyUnsupported) {
            $0.key = DER.sequence(DER.sequence(DER.identifier(.rsaPSS)), DER.wrap(3, [0] + point))
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
        #expect(certificate.key.kind == .ec(.p256))
        #expect(Array(certificate.key.bytes) == Self.point)
        #expect(certificate.isAuthority)
        #expect(certificate.basicConstraints?.pathLength == 3)
        #expect(certificate.keyUsage == [.certificateSigning, KeyUsage(rawValue: 1 << 9)])
        #expect(certificate.signatureAlgorithm == .ecdsa(.sha256))
        #expect(certificate.extensions.map(\.isCritical) == [true, true])
    }

    @Test("A reader may accept only some of the keys and signatures")
    func accepted() {
        var certificate = X509TestCertificate(key: X509TestCertificate.keyInfo(.p256, Self.point))
        #expect(Self.code(of: certificate.unsigned, accepting: .ecdsa) == nil)
        #expect(Self.code(of: certificate.unsigned, accepting: .rsa) == .signatureAlgorithmUnsupported)
        #expect(Self.code(of: certificate.unsigned, accepting: []) == .signatureAlgorithmUnsupported)
        certificate.signatureAlgorithm = DER.sequence(DER.identifier(.rsaWithSHA256), [5, 0])
        #expect(Self.code(of: certificate.unsigned, accepting: .ecdsa) == .signatureAlgorithmUnsupported)
        #expect(Self.code(of: certificate.unsigned, accepting: .rsa) == .keyUnsupported)
        #expect(Self.code(of: certificate.unsigned, accepting: .all) == nil)
        certificate.key = X509TestCertificate.rsaKeyInfo()
        #expect(Self.code(of: certificate.unsigned, accepting: .rsa) == nil)
        certificate.signatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA256))
        #expect(Self.code(of: certificate.unsigned, accepting: .ecdsa) == .keyUnsupported)
    }

    @Test("The parameters of PSS are those of one digest throughout", arguments: pssCases)
    func pss(_ parameters: [UInt8], _ algorithm: SignatureAlgorithm?) {
        var certificate = X509TestCertificate(key: X509TestCertificate.keyInfo(.p256, Self.point))
        certificate.signatureAlgorithm = DER.sequence(DER.identifier(.rsaPSS), parameters)
        #expect((try? Certificate(der: certificate.unsigned[...]))?.signatureAlgorithm == algorithm)
    }

    static let pssCases: [([UInt8], SignatureAlgorithm?)] = {
        func pss(
            _ hash: OID, _ mask: OID, _ salt: UInt8, null: [UInt8] = [5, 0], generator: OID = .mgf1,
            behind: [UInt8] = []
        ) -> [UInt8] {
            let digests = [hash, mask].map { DER.sequence(DER.identifier($0), null) }
            return DER.sequence(
                DER.context(0, digests[0]), DER.context(1, DER.sequence(DER.identifier(generator), digests[1])),
                DER.context(2, DER.integer([salt])), behind)
        }
        return [
            (pss(.sha256, .sha256, 32), .rsaPSS(.sha256)), (pss(.sha384, .sha384, 48), .rsaPSS(.sha384)),
            (pss(.sha512, .sha512, 64), .rsaPSS(.sha512)), (pss(.sha256, .sha256, 32, null: []), .rsaPSS(.sha256)),
            (pss(.sha256, .sha384, 32), nil), (pss(.sha256, .sha256, 20), nil),
            (pss(.sha256, .sha256, 32, generator: .rsaPSS), nil),
            (pss(.sha256, .sha256, 32, behind: DER.context(3, DER.integer([1]))), nil),
            (pss(OID(1, 3, 14, 3, 2, 26), OID(1, 3, 14, 3, 2, 26), 20), nil), (DER.sequence(), nil), ([], nil),
        ]
    }()

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
        var evenModulus = good
        evenModulus.key = X509TestCertificate.rsaKeyInfo(modulus: [0, 0x80] + [UInt8](repeating: 8, count: 255))
        #expect(throws: CertificateError(.keyInvalid)) { try TrustAnchor(der: evenModulus.unsigned) }
        #expect(throws: CertificateError(.signatureAlgorithmUnsupported)) {
            try TrustAnchor(der: good.unsigned, accepting: .rsa)
        }
    }

    private static func code(
        of bytes: [UInt8], accepting algorithms: Certificate.Algorithms = .all
    ) -> CertificateError.Code? {
        do {
            _ = try Certificate(der: bytes[...], accepting: algorithms)
            return nil
        } catch {
            return error.code
        }
    }
}
