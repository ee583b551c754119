import AssayCrypto

/// A certificate that a test signs for itself, each part of which can be spoilt.
struct X509TestCertificate {
    var version: [UInt8] = DER.context(0, DER.integer([2]))
    var serialNumber: [UInt8] = [0x01]
    var signatureAlgorithm = DER.sequence(DER.identifier(.ecdsaWithSHA256))
    var innerSignatureAlgorithm: [UInt8]?
    var issuer = "issuer"
    var subject = "subject"
    var notBefore = "260101000000Z"
    var notAfter = "261231235959Z"
    var key: [UInt8]
    var extensions: [[UInt8]] = []
    var behindExtensions: [UInt8] = []
    var behindSignature: [UInt8] = []

    init(key: [UInt8]) {
        self.key = key
    }

    /// A certificate of a key, with the extensions of an authority or of a leaf.
    init(_ key: PrivateKey, subject: String, issuer: String, isAuthority: Bool, pathLength: UInt8? = nil) {
        self.init(key: Self.keyInfo(key))
        self.subject = subject
        self.issuer = issuer
        extensions = isAuthority ? Self.authority(pathLength: pathLength) : Self.leaf
    }

    static let leaf = [
        DER.extension(.basicConstraints, true, DER.sequence()), DER.extension(.keyUsage, true, [3, 2, 7, 0x80]),
    ]

    static func authority(pathLength: UInt8? = nil) -> [[UInt8]] {
        let constraints = DER.sequence([1, 1, 0xFF], pathLength.map { DER.integer([$0]) } ?? [])
        return [
            DER.extension(.basicConstraints, true, constraints), DER.extension(.keyUsage, true, [3, 2, 1, 6]),
        ]
    }

    static func keyInfo(_ key: PrivateKey) -> [UInt8] {
        switch key.publicKey {
        case .ec(let key): keyInfo(key.curve == .p256 ? .p256 : .p384, key.x963)
        case .rsa(let key): rsaKeyInfo(modulus: [0] + key.modulus, exponent: key.exponent)
        }
    }

    static func rsaKeyInfo(
        modulus: [UInt8] = [0, 0x80] + [UInt8](repeating: 7, count: 255), exponent: [UInt8] = [1, 0, 1],
        parameters: [UInt8] = [5, 0], behind: [UInt8] = []
    ) -> [UInt8] {
        let key = DER.sequence(DER.integer(modulus), DER.integer(exponent), behind)
        return DER.sequence(DER.sequence(DER.identifier(.rsaEncryption), parameters), DER.wrap(0x03, [0] + key))
    }

    static func keyInfo(_ curve: OID, _ point: [UInt8]) -> [UInt8] {
        DER.sequence(
            DER.sequence(DER.identifier(.ecPublicKey), DER.identifier(curve)), DER.wrap(0x03, [0] + point))
    }

    /// What is signed.
    var signedPart: [UInt8] {
        let algorithm = innerSignatureAlgorithm ?? signatureAlgorithm
        let validity = DER.sequence(
            DER.wrap(0x17, Array(notBefore.utf8)), DER.wrap(0x17, Array(notAfter.utf8)))
        let list = extensions.isEmpty ? [] : DER.context(3, DER.wrap(0x30, extensions.flatMap { $0 }))
        let head = version + DER.integer(serialNumber) + algorithm + DER.name(issuer)
        return DER.wrap(0x30, head + validity + DER.name(subject) + key + list + behindExtensions)
    }

    /// The certificate with this signature.
    func encoded(signature: [UInt8]) -> [UInt8] {
        DER.sequence(signedPart, signatureAlgorithm, DER.wrap(0x03, [0] + signature), behindSignature)
    }

    /// The certificate, signed with SHA-256, as `signatureAlgorithm` has to say.
    func signed(by issuer: PrivateKey) throws -> [UInt8] {
        encoded(signature: try issuer.sign(signedPart, digest: .sha256))
    }

    /// The certificate with a signature that nobody looks at.
    var unsigned: [UInt8] { encoded(signature: [0x30, 6, 2, 1, 1, 2, 1, 1]) }
}

/// Writes DER.
enum DER {
    static func wrap(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            switch count {
            case ..<0x80: [UInt8(count)]
            case ..<0x100: [0x81, UInt8(count)]
            default: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
            }
        return [tag] + length + content
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { wrap(0x30, parts.flatMap { $0 }) }
    static func set(_ parts: [UInt8]...) -> [UInt8] { wrap(0x31, parts.flatMap { $0 }) }
    static func context(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { wrap(0xA0 | number, content) }
    static func integer(_ content: [UInt8]) -> [UInt8] { wrap(0x02, content) }
    static func octets(_ content: [UInt8]) -> [UInt8] { wrap(0x04, content) }
    static func identifier(_ identifier: OID) -> [UInt8] { wrap(0x06, Array(identifier.content)) }

    /// A name of one common name.
    static func name(_ text: String) -> [UInt8] {
        sequence(set(sequence(identifier(OID(2, 5, 4, 3)), wrap(0x0C, Array(text.utf8)))))
    }

    static func `extension`(_ identifier: OID, _ isCritical: Bool, _ value: [UInt8]) -> [UInt8] {
        sequence(DER.identifier(identifier), isCritical ? [1, 1, 0xFF] : [], octets(value))
    }
}
