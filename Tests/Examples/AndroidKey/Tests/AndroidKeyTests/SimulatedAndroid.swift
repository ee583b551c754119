import AndroidKey
import AssayCore
import AssayCrypto
import AssayTesting

/// An authority that certifies Android devices, and devices whose keys it attests: an RSA root, an authority on P-384, a device
/// on P-256.
struct SimulatedAndroid: Sendable {
    /// What a device says of a key.
    struct Description: Sendable {
        var challenge: [UInt8]
        var level: UInt8 = 1
        var package = "com.example.app"
        var signer = SimulatedAndroid.signer
        var isLocked = true
        var bootState: UInt8 = 0
        var patchLevel: UInt64? = 202_611
        /// From when on the certificate of the key is valid for an hour, from now; nil for years.
        var validFrom: Duration?
        /// Whether the description of the key lacks its end.
        var isCut = false
    }

    /// SHA-256 of the certificate that the simulated app is signed with.
    static let signer = SHA256.hash(Array("the certificate of the app".utf8))

    private static let years: Int64 = 365 * 86_400
    private let rootDER: [UInt8]
    private let maker: SimulatedKey
    private let makerDER: [UInt8]
    private let now: Instant

    /// - Parameter now: a time in the middle of the lives of all certificates.
    init(now: Instant) throws {
        let root = try SimulatedRSAKey()
        let maker = try SimulatedKey(.p384)
        func authority(_ name: String, _ key: SubjectPublicKey, _ length: UInt64) throws -> [UInt8] {
            try CertificateTemplate(
                serialNumber: [1], issuer: NameTemplate(commonName: "Simulated Android Root"),
                subject: NameTemplate(commonName: name), notBefore: now - .seconds(Self.years),
                notAfter: now + .seconds(Self.years), publicKey: key,
                extensions: [.authority(pathLength: length), .keyUsage(0x06, unusedBits: 1)], digest: .sha256,
                signer: root
            ).signed()
        }
        rootDER = try authority("Simulated Android Root", root.subjectPublicKey, 3)
        makerDER = try authority("Simulated Maker", maker.subjectPublicKey, 1)
        self.maker = maker
        self.now = now
    }

    /// The root in PEM.
    var rootPEM: String {
        let lines = Base64.encode(rootDER)
        return "-----BEGIN CERTIFICATE-----\n\(lines.wrapped)\n-----END CERTIFICATE-----\n"
    }

    /// The chain of a new key, the leaf first.
    func chain(_ description: Description) throws -> [[UInt8]] {
        let device = try SimulatedKey(.p256)
        let key = try SimulatedKey(.p256)
        let deviceName = NameTemplate(commonName: "Simulated Device")
        let deviceDER = try CertificateTemplate(
            serialNumber: [2], issuer: NameTemplate(commonName: "Simulated Maker"), subject: deviceName,
            notBefore: now - .seconds(Self.years), notAfter: now + .seconds(Self.years),
            publicKey: device.subjectPublicKey,
            extensions: [.authority(), .keyUsage(0x04, unusedBits: 2)], digest: .sha384, signer: maker
        ).signed()
        let leaf = try CertificateTemplate(
            serialNumber: [1], issuer: deviceName, subject: NameTemplate(commonName: "Android Keystore Key"),
            notBefore: now + (description.validFrom ?? .seconds(-60)),
            notAfter: now + (description.validFrom.map { $0 + .seconds(3600) } ?? .seconds(Self.years)),
            publicKey: key.subjectPublicKey,
            extensions: [
                .keyUsage(0x80, unusedBits: 7),
                ExtensionTemplate(
                    type: [1, 3, 6, 1, 4, 1, 11129, 2, 1, 17],
                    value: description.isCut
                        ? Self.value(description, now).dropLast(3) : Self.value(description, now)),
            ], digest: .sha256, signer: device
        ).signed()
        return [leaf, deviceDER, makerDER]
    }

    private static func value(_ description: Description, _ now: Instant) -> [UInt8] {
        typealias DER = DERWriter
        func enumerated(_ value: UInt8) -> [UInt8] { DER.value(0x0A, [value]) }
        let application = DER.sequence(
            DER.set(DER.sequence(DER.octetString(Array(description.package.utf8)), DER.integer(7))),
            DER.set(DER.octetString(description.signer)))
        let rootOfTrust = DER.sequence(
            DER.octetString([UInt8](repeating: 0xAA, count: 32)), DER.boolean(description.isLocked),
            enumerated(description.bootState), DER.octetString([UInt8](repeating: 0xBB, count: 32)))
        return DER.sequence(
            DER.integer(300), enumerated(description.level), DER.integer(300), enumerated(description.level),
            DER.octetString(description.challenge), DER.octetString([]),
            DER.sequence(
                DER.context(701, DER.integer(UInt64(now.milliseconds))),
                DER.context(709, DER.octetString(application))),
            DER.sequence(
                DER.context(1, DER.set(DER.integer(2))), DER.context(2, DER.integer(3)),
                DER.context(503, DER.null), DER.context(704, rootOfTrust),
                description.patchLevel.map { DER.context(706, DER.integer($0)) } ?? []))
    }
}

extension String {
    /// In lines of 64 characters.
    fileprivate var wrapped: String {
        let bytes = Array(utf8)
        return stride(from: 0, to: bytes.count, by: 64)
            .map { String(decoding: bytes[$0..<min($0 + 64, bytes.count)], as: UTF8.self) }.joined(separator: "\n")
    }
}
