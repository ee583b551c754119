import AssayCore
import AssayCrypto
import Testing

/// A signed message that a test makes for itself, in either spelling.
struct CMSTestMessage {
    var isIndefinite = false
    var content = [UInt8]((0..<2500).map { UInt8(truncatingIfNeeded: $0) })
    var parts: [Int] = [1000, 1000, 500]
    var version: UInt8 = 1
    var digests = DER.set(sha256)
    var contentType = OID.cmsData
    var certificates: [[UInt8]] = [DER.sequence([5, 0])]
    var signerVersion: UInt8 = 1
    var attributes: [[UInt8]]?
    var signatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA256))
    var behindSignature: [UInt8] = []
    var signers = 1
    var behindSigners: [UInt8] = []

    static let sha256 = DER.sequence(DER.identifier(.sha256), [5, 0])

    static func attribute(_ identifier: OID, _ value: [UInt8]) -> [UInt8] {
        DER.sequence(DER.identifier(identifier), DER.set(value))
    }

    /// The attributes that a signer of this content adds, in their order.
    var goodAttributes: [[UInt8]] {
        [
            Self.attribute(.cmsContentType, DER.identifier(.cmsData)),
            Self.attribute(.cmsSigningTime, DER.wrap(0x17, Array("200823115524Z".utf8))),
            Self.attribute(
                .cmsAlgorithmProtection,
                DER.sequence(Self.sha256, DER.context(1, DER.identifier(.ecdsaWithSHA256)))),
            Self.attribute(.cmsMessageDigest, DER.octets(SHA256.hash(content))),
        ]
    }

    func encoded(signature: [UInt8]) -> [UInt8] {
        let identifier = DER.sequence(DER.name("issuer"), DER.integer([5]))
        let attributes = attributes.map { DER.context(0, $0.flatMap { $0 }) } ?? []
        let signer = DER.sequence(
            DER.integer([signerVersion]), identifier, Self.sha256, attributes, signatureAlgorithm,
            DER.octets(signature), behindSignature)
        let signerSet = DER.wrap(0x31, (0..<signers).flatMap { _ in signer })
        let octets = isIndefinite ? frame(0x24, cut().flatMap(DER.octets)) : DER.octets(content)
        let encapsulated = frame(0x30, DER.identifier(contentType) + frame(0xA0, octets))
        let signedData = frame(
            0x30,
            DER.integer([version]) + digests + encapsulated + frame(0xA0, certificates.flatMap { $0 }) + signerSet
                + behindSigners)
        return frame(0x30, DER.identifier(.cmsSignedData) + frame(0xA0, signedData))
    }

    private func frame(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        isIndefinite ? [tag, 0x80] + content + [0, 0] : DER.wrap(tag, content)
    }

    private func cut() -> [[UInt8]] {
        var rest = content[...]
        return parts.map { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
    }
}

struct CMSCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: CMSError.Code?
    let change: @Sendable (inout CMSTestMessage) -> Void

    init(_ name: String, _ code: CMSError.Code?, _ change: @escaping @Sendable (inout CMSTestMessage) -> Void) {
        testDescription = name
        self.code = code
        self.change = change
    }
}

struct SignedDataTests {
    @Test("Only messages of the one shape are read, in either spelling", arguments: cases, [false, true])
    func shapes(_ shape: CMSCase, _ isIndefinite: Bool) {
        var message = CMSTestMessage()
        message.isIndefinite = isIndefinite
        shape.change(&message)
        #expect(Self.code(of: message.encoded(signature: [1, 2, 3])) == shape.code)
    }

    static let cases: [CMSCase] = [
        CMSCase("as it was", nil) { _ in },
        CMSCase("with attributes", nil) { $0.attributes = $0.goodAttributes },
        CMSCase("without parameters of the digest", nil) {
            $0.digests = DER.set(DER.sequence(DER.identifier(.sha256)))
        },
        CMSCase("without certificates", nil) { $0.certificates = [] },
        CMSCase("version 3", .kindUnsupported) { $0.version = 3 },
        CMSCase("another content", .kindUnsupported) { $0.contentType = .cmsSignedData },
        CMSCase("SHA-384", .algorithmUnsupported) {
            $0.digests = DER.set(DER.sequence(DER.identifier(OID(2, 16, 840, 1, 101, 3, 4, 2, 2)), [5, 0]))
        },
        CMSCase("two digests", .malformed) { $0.digests = DER.set(CMSTestMessage.sha256, CMSTestMessage.sha256) },
        CMSCase("9 certificates", .tooLarge) { $0.certificates = .init(repeating: DER.sequence(), count: 9) },
        CMSCase("a certificate of another kind", .malformed) { $0.certificates = [DER.context(1, [])] },
        CMSCase("no signer", .signerCount) { $0.signers = 0 },
        CMSCase("two signers", .signerCount) { $0.signers = 2 },
        CMSCase("a signer of version 3", .kindUnsupported) { $0.signerVersion = 3 },
        CMSCase("ECDSA with SHA-384", .algorithmUnsupported) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA384))
        },
        CMSCase("ECDSA with parameters", .malformed) {
            $0.signatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA256), [5, 0])
        },
        CMSCase("unsigned attributes", .malformed) { $0.behindSignature = DER.context(1, DER.sequence()) },
        CMSCase("something behind the signers", .malformed) { $0.behindSigners = [5, 0] },
        CMSCase("an empty set of attributes", .attributesMalformed) { $0.attributes = [] },
        CMSCase("attributes in another order", .attributesMalformed) { $0.attributes = $0.goodAttributes.reversed() },
        CMSCase("an attribute twice", .attributesMalformed) {
            $0.attributes = [$0.goodAttributes[0]] + $0.goodAttributes
        },
        CMSCase("a signing time twice, with different values in order", .attributesMalformed) {
            let other = CMSTestMessage.attribute(.cmsSigningTime, DER.wrap(0x17, Array("200823115525Z".utf8)))
            $0.attributes = ($0.goodAttributes + [other]).sorted { $0.lexicographicallyPrecedes($1) }
        },
        CMSCase("a digest twice, with different values in order", .attributesMalformed) {
            let other = CMSTestMessage.attribute(.cmsMessageDigest, DER.octets([UInt8](repeating: 0xFF, count: 32)))
            $0.attributes = ($0.goodAttributes + [other]).sorted { $0.lexicographicallyPrecedes($1) }
        },
        CMSCase("a content type twice, with different values in order", .attributesMalformed) {
            let other = CMSTestMessage.attribute(.cmsContentType, DER.identifier(.cmsSignedData))
            $0.attributes = ($0.goodAttributes + [other]).sorted { $0.lexicographicallyPrecedes($1) }
        },
        CMSCase("no digest among the attributes", .attributesMalformed) {
            $0.attributes = Array($0.goodAttributes.dropLast())
        },
        CMSCase("no content type among the attributes", .attributesMalformed) {
            $0.attributes = Array($0.goodAttributes.dropFirst())
        },
        CMSCase("an unknown attribute", .attributesMalformed) {
            $0.attributes = [CMSTestMessage.attribute(OID(1, 2), [])] + $0.goodAttributes
        },
        CMSCase("an attribute of two values", .malformed) {
            var attributes = $0.goodAttributes
            attributes[0] = CMSTestMessage.attribute(
                .cmsContentType, DER.identifier(.cmsData) + DER.identifier(.cmsData))
            $0.attributes = attributes.sorted { $0.lexicographicallyPrecedes($1) }
        },
        CMSCase("protection of another algorithm", .algorithmUnsupported) {
            $0.attributes?[2] = []
            var attributes = $0.goodAttributes
            attributes[2] = CMSTestMessage.attribute(
                .cmsAlgorithmProtection,
                DER.sequence(CMSTestMessage.sha256, DER.context(1, DER.identifier(.ecdsaWithSHA384))))
            $0.attributes = attributes
        },
    ]

    @Test(
        "Content in parts comes in full ones but for the last",
        arguments: [
            ([1000, 1000, 500], nil), ([1000, 500, 1000], CMSError.Code.malformed), ([2500], .malformed),
            ([1000, 1000, 500, 0], .malformed), ([1000, 1000, 250, 250], .malformed),
        ] as [([Int], CMSError.Code?)])
    func parts(_ parts: [Int], _ code: CMSError.Code?) {
        var message = CMSTestMessage()
        message.isIndefinite = true
        message.parts = parts
        #expect(Self.code(of: message.encoded(signature: [1])) == code)
    }

    @Test("A signature is over the attributes, or over the content where there are none", arguments: [false, true])
    func signatures(_ isIndefinite: Bool) throws {
        let key = try PrivateKey.generate(.ec(.p256))
        guard case .ec(let publicKey) = key.publicKey else { return }
        var message = CMSTestMessage()
        message.isIndefinite = isIndefinite
        let overContent = try key.sign(message.content)
        let overAttributes = try key.sign([0x31] + DER.context(0, message.goodAttributes.flatMap { $0 }).dropFirst())

        let plain = try SignedData(message.encoded(signature: overContent)[...])
        #expect(plain.content == message.content)
        #expect(plain.isSigned(by: publicKey))
        #expect(plain.isContentSigned(by: publicKey))

        message.attributes = message.goodAttributes
        let standard = try SignedData(message.encoded(signature: overAttributes)[...])
        #expect(standard.isSigned(by: publicKey))
        #expect(!standard.isContentSigned(by: publicKey))
        #expect(standard.signer.attributes?.signingTime?.description == "2020-08-23T11:55:24Z")

        let faulty = try SignedData(message.encoded(signature: overContent)[...])
        #expect(!faulty.isSigned(by: publicKey))
        #expect(faulty.isContentSigned(by: publicKey))

        message.content[0] ^= 1
        let changed = try SignedData(message.encoded(signature: overAttributes)[...])
        #expect(!changed.isSigned(by: publicKey))
    }

    @Test("The signer names its certificate by issuer and serial number")
    func signerNames() throws {
        let signer = try SignedData(CMSTestMessage().encoded(signature: [1])[...]).signer
        var built = X509TestCertificate(
            key: X509TestCertificate.keyInfo(.p256, [4] + [UInt8](repeating: 7, count: 64)))
        built.serialNumber = [5]
        #expect(signer.names(try Certificate(der: built.unsigned[...])))
        built.serialNumber = [6]
        #expect(!signer.names(try Certificate(der: built.unsigned[...])))
        built.serialNumber = [5]
        built.issuer = "Issuer"
        #expect(!signer.names(try Certificate(der: built.unsigned[...])))
    }

    @Test("Nothing can be cut off or added", arguments: [false, true])
    func lengths(_ isIndefinite: Bool) {
        var message = CMSTestMessage()
        message.isIndefinite = isIndefinite
        message.content = [1, 2, 3]
        message.parts = [3]
        let bytes = message.encoded(signature: [1])
        #expect(Self.code(of: bytes) == nil)
        for count in bytes.indices { #expect(Self.code(of: Array(bytes.prefix(count))) == .malformed) }
        #expect(Self.code(of: bytes + [0]) == .malformed)
        #expect(Self.code(of: bytes + [0, 0]) == .malformed)
        #expect(Self.code(of: bytes + [UInt8](repeating: 0, count: 65_536)) == .tooLarge)
    }

    private static func code(of bytes: [UInt8]) -> CMSError.Code? {
        do {
            _ = try SignedData(bytes[...])
            return nil
        } catch {
            return error.code
        }
    }
}
