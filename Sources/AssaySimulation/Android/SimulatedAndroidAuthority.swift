public import AssayCore
internal import AssayCrypto

/// An authority that certifies simulated Android devices, as Google and makers do: for tests, in place of Google's roots.
public struct SimulatedAndroidAuthority: Sendable {
    /// How devices get their certificates.
    public enum Provisioning: Sendable, Hashable, CaseIterable {
        /// In the factory: certificates that do not end here, and do not say that they are authorities'.
        case factory
        /// From a server: certificates of two weeks for one device.
        case remote
    }

    private static let year = Duration.seconds(365 * 86_400)

    /// How its devices get their certificates.
    public let provisioning: Provisioning
    private let rootDER: [UInt8]
    private let upper: (key: SimulatedKey, name: NameTemplate)
    /// The certificates between a device's own and the root's, the lowest first.
    private let intermediates: [[UInt8]]
    private let now: Instant

    /// Makes keys and certificates.
    ///
    /// - Parameters:
    ///   - now: a time in the middle of the lives of all certificates.
    ///   - random: where keys come from.
    public init(
        now: Instant, provisioning: Provisioning = .factory, random: Randomness = .system
    ) throws(SimulationError) {
        self.provisioning = provisioning
        self.now = now
        let root = try SimulationError.wrapping { () throws(CryptoError) in try SimulatedKey(.p384, random: random) }
        let key = try SimulationError.wrapping { () throws(CryptoError) in try SimulatedKey(.p384, random: random) }
        let rootName =
            provisioning == .factory
            ? NameTemplate([.serial("f92009e853b6b0ff")])
            : NameTemplate(commonName: "Simulated Key Attestation CA", organization: "Example")
        let name =
            provisioning == .factory
            ? NameTemplate([.serial("00aabbccddeeff11"), .title("TEE")])
            : NameTemplate(commonName: "Droid CA2", organization: "Google LLC")
        func authority(
            _ subject: NameTemplate, _ publicKey: SimulatedKey, _ serial: [UInt8]
        ) throws(SimulationError) -> [UInt8] {
            let template = CertificateTemplate(
                serialNumber: serial, issuer: rootName, subject: subject, notBefore: now - Self.year,
                notAfter: now + Self.year, publicKey: publicKey.subjectPublicKey,
                extensions: [.authority(), .keyUsage(0x06, unusedBits: 1)], digest: .sha384, signer: root)
            return try SimulationError.wrapping { () throws(CryptoError) in try template.signed() }
        }
        rootDER = try authority(rootName, root, [1])
        intermediates = [try authority(name, key, [0x00, 0xC0, 0xFF, 0xEE])]
        upper = (key, name)
    }

    /// The root's certificate in PEM, for `roots` of a policy.
    public var rootPEM: String { PEMWriter.block("CERTIFICATE", rootDER) }

    /// A new device with a certificate of its own.
    ///
    /// - Parameters:
    ///   - state: what the device says of itself.
    ///   - validFrom: from when on its certificate is valid, for two weeks; a day ago if it is provisioned remotely, and long ago in a
    ///     factory, if nothing is said.
    ///   - serial: the serial number of its certificate, for lists of revoked ones.
    public func device(
        _ state: SimulatedAndroidState = SimulatedAndroidState(), serial: [UInt8]? = nil, validFrom: Instant? = nil,
        random: Randomness = .system
    ) throws(SimulationError) -> SimulatedAndroidDevice {
        let key = try SimulationError.wrapping { () throws(CryptoError) in try SimulatedKey(.p256, random: random) }
        let serial = serial ?? [0x4A] + random.bytes(8)
        let hardware = state.attestationLevel == 2 ? "StrongBox" : "TEE"
        let isFactory = provisioning == .factory
        let name =
            isFactory
            ? NameTemplate([.serial(Hex.encode(random.bytes(8))), .title(hardware)])
            : NameTemplate(commonName: Hex.encode(serial), organization: hardware)
        var extensions: [ExtensionTemplate] =
            isFactory ? [.keyUsage(0x80, unusedBits: 7)] : [.authority(), .keyUsage(0x04, unusedBits: 2)]
        if !isFactory {
            // A map in CBOR: one certificate was issued to the device lately.
            extensions.append(
                ExtensionTemplate(type: [1, 3, 6, 1, 4, 1, 11129, 2, 1, 30], value: [0xA1, 0x01, 0x01]))
        }
        let begins = validFrom ?? now - .seconds(isFactory ? 400 * 86_400 : 86_400)
        // What a factory has certified is used beyond its end.
        let ends = isFactory && validFrom == nil ? now - .seconds(86_400) : begins + .seconds(14 * 86_400)
        let template = CertificateTemplate(
            serialNumber: serial, issuer: upper.name, subject: name,
            notBefore: begins, notAfter: ends,
            publicKey: key.subjectPublicKey, extensions: extensions, digest: .sha256, signer: upper.key)
        let certificate = try SimulationError.wrapping { () throws(CryptoError) in try template.signed() }
        return SimulatedAndroidDevice(
            state: state, attester: key, attesterName: name, chain: [certificate] + intermediates + [rootDER],
            now: now)
    }
}

extension NameTemplate.Attribute {
    fileprivate static func serial(_ text: String) -> Self { Self(type: [2, 5, 4, 5], text: text) }
    fileprivate static func title(_ text: String) -> Self { Self(type: [2, 5, 4, 12], text: text) }
}
