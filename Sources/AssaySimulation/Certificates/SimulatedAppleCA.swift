public import AssayCore
public import AssayCrypto

/// A simulation of Apple's two certificate hierarchies, trusted only by code that is given its roots.
///
/// Key types, signature algorithms, extensions and their order are those of Apple's certificates; the names say that
/// they are simulated, and no certificate points to a server of Apple's.
///
///     P-384 App Attestation root -> P-384 "CA 1", path length 0 -> leaves of devices
///     P-384 root -> P-256 integration CA -> P-256 signer of receipts
public struct SimulatedAppleCA: Sendable {
    /// The root that a policy must name to accept attestations of simulated devices.
    public let root: SimulatedAuthority
    /// Issues the leaves of devices.
    public var intermediate: SimulatedAuthority
    /// The root that a policy must name to accept receipts.
    public let receiptRoot: SimulatedAuthority
    /// Issues the signers of receipts.
    public var receiptAuthority: SimulatedAuthority
    /// Signs receipts.
    public var receiptSigner: SimulatedAuthority

    /// Makes all five keys and certificates.
    ///
    /// Their validity is relative to `now` as Apple's is to today: roots for decades, the intermediate for four more
    /// years, the signer of receipts for half a year. The same random source and time give the same keys, names and
    /// serial numbers; only the bytes of ECDSA signatures differ.
    public init(at now: Instant, random: Randomness = .system) throws(CryptoError) {
        root = try .make(
            Self.attestationName("Assay Simulated App Attestation Root CA"), .p384, signedBy: nil,
            from: now - .days(2440), to: now + .days(6690),
            extensions: { key, _ in
                [.authority(), .subject(key), .keyUsage(0x06, unusedBits: 1)]
            }, random: random)
        intermediate = try .make(
            Self.attestationName("Assay Simulated App Attestation CA 1"), .p384, signedBy: root,
            from: now - .days(2440), to: now + .days(1208),
            extensions: { key, issuer in
                [.authority(pathLength: 0), .authority(issuer), .subject(key), .keyUsage(0x06, unusedBits: 1)]
            }, random: random)
        receiptRoot = try .make(
            Self.receiptName("Assay Simulated Root CA - G3"), .p384, signedBy: nil,
            from: now - .days(4590), to: now + .days(4540),
            extensions: { key, _ in
                [.subject(key), .authority(), .keyUsage(0x06, unusedBits: 1)]
            }, random: random)
        receiptAuthority = try .make(
            Self.receiptName("Assay Simulated Application Integration CA 5 - G1"), .p256, signedBy: receiptRoot,
            from: now - .days(2800), to: now + .days(2670),
            extensions: { key, issuer in
                [
                    .authority(), .authority(issuer), .subject(key), .keyUsage(0x06, unusedBits: 1),
                    ExtensionTemplate(type: ObjectIdentifiers.integrationCA, value: DERWriter.null),
                ]
            }, random: random)
        receiptSigner = try .make(
            NameTemplate(
                commonName: "Assay Simulated Fraud Receipt Signing", organization: Self.organization, country: "US"),
            .p256, signedBy: receiptAuthority, from: now - .days(210), to: now + .days(184),
            extensions: { key, issuer in
                [
                    .endEntity, .authority(issuer), .subject(key), .keyUsage(0x80, unusedBits: 7),
                    ExtensionTemplate(type: ObjectIdentifiers.receiptSigner, value: DERWriter.null),
                ]
            }, random: random)
    }

    /// The root of attestations, in DER.
    public var rootCertificateDER: [UInt8] { root.certificateDER }
    /// The root of attestations, in PEM, for a policy.
    public var rootCertificatePEM: String { root.certificatePEM }
    /// The root of receipts, in DER.
    public var receiptRootCertificateDER: [UInt8] { receiptRoot.certificateDER }
    /// The root of receipts, in PEM, for a policy.
    public var receiptRootCertificatePEM: String { receiptRoot.certificatePEM }

    static let organization = "Assay Simulation"

    private static func attestationName(_ commonName: String) -> NameTemplate {
        NameTemplate(commonName: commonName, organization: organization, state: "California")
    }

    private static func receiptName(_ commonName: String) -> NameTemplate {
        NameTemplate(
            commonName: commonName, organizationalUnit: "Assay Simulated Certification Authority",
            organization: organization, country: "US")
    }
}

extension SimulatedAuthority {
    /// A new key and its certificate; self-signed if no issuer is given.
    fileprivate static func make(
        _ name: NameTemplate, _ curve: EllipticCurve, signedBy issuer: SimulatedAuthority?, from: Instant,
        to: Instant, extensions: (SimulatedKey, SimulatedKey) -> [ExtensionTemplate],
        random: Randomness
    ) throws(CryptoError) -> SimulatedAuthority {
        let key = try SimulatedKey(curve, random: random)
        let signer = issuer?.key ?? key
        // As long and as positive as Apple's serial numbers.
        let serial = [0x5A] + random.bytes(15)
        return try SimulatedAuthority(
            CertificateTemplate(
                serialNumber: serial, issuer: issuer?.name ?? name, subject: name, notBefore: from, notAfter: to,
                publicKey: SubjectPublicKey(key), extensions: extensions(key, signer),
                digest: signer.curve == .p384 ? .sha384 : .sha256, signer: signer),
            key: key)
    }
}

extension ExtensionTemplate {
    fileprivate static func subject(_ key: SimulatedKey) -> Self {
        .subjectKeyIdentifier(SimulatedAuthority.keyIdentifier(of: key))
    }

    fileprivate static func authority(_ issuer: SimulatedKey) -> Self {
        .authorityKeyIdentifier(SimulatedAuthority.keyIdentifier(of: issuer))
    }
}

extension Duration {
    /// Whole days of 24 hours.
    package static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
}

/// A certificate of the simulated hierarchy, with the key that it is about.
public struct SimulatedAuthority: Sendable {
    /// What the certificate was made from.
    public let template: CertificateTemplate
    /// The private key whose public half the certificate has, and which signs under it.
    public let key: SimulatedKey
    /// The signed certificate.
    public let certificateDER: [UInt8]

    /// Signs a template.
    public init(_ template: CertificateTemplate, key: SimulatedKey) throws(CryptoError) {
        self.template = template
        self.key = key
        certificateDER = try template.signed()
    }

    /// The name that certificates under this one carry as issuer.
    public var name: NameTemplate { template.subject }

    /// The certificate as a `CERTIFICATE` block (RFC 7468).
    public var certificatePEM: String { PEMWriter.block("CERTIFICATE", certificateDER) }

    /// Another certificate for the same key, bent by `change`.
    public func reissued(_ change: (inout CertificateTemplate) -> Void) throws(CryptoError) -> SimulatedAuthority {
        var template = template
        change(&template)
        return try SimulatedAuthority(template, key: key)
    }

    /// The key identifier that the certificate and those under it carry: 20 bytes of the SHA-256 of the public point
    /// (RFC 7093, section 2, method 1).
    static func keyIdentifier(of key: SimulatedKey) -> [UInt8] {
        Array(SHA256.hash(key.point).prefix(20))
    }
}
