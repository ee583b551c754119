internal import AssayCBOR
public import AssayCore
internal import AssayCrypto

/// What a simulated Android device says of itself, of a key, and of the app that made it; each part is free to be wrong.
public struct SimulatedAndroidState: Sendable {
    /// Where the attestation is made: 0 in software, 1 in a trusted execution environment, 2 in a chip of its own.
    public var attestationLevel: UInt8 = 1
    /// Where the key is.
    public var keyLevel: UInt8 = 1
    /// The version of the description.
    public var version: UInt64 = 300
    /// Whether the boot loader is locked.
    public var isLocked = true
    /// 0 for the maker's system, 1 for one with a key of its own, 2 for any, 3 for a check that failed.
    public var bootState: UInt8 = 0
    /// SHA-256 of the key that the system is signed by.
    public var bootKey = [UInt8](repeating: 0xB0, count: 32)
    /// The version of Android: `150000` for 15.
    public var osVersion: UInt64? = 150_000
    /// The last security updates: of Android `202611`, of the vendor and the boot loader `20261105`; nil for unknown ones.
    public var systemPatch: UInt64? = 202_611
    /// That of the vendor's part.
    public var vendorPatch: UInt64? = 20_261_105
    /// That of the boot loader.
    public var bootPatch: UInt64? = 20_261_105
    /// The app's package.
    public var package = "com.example.app"
    /// The version code of the app.
    public var versionCode: UInt64 = 42
    /// SHA-256 of the certificate that the app is signed with.
    public var signingDigest = SHA256.hash(Array("the certificate of the app".utf8))
    /// What keys are for: 2 is to sign, 7 to attest others.
    public var purposes: [UInt64] = [2]
    /// How keys come to be: 0 for those that are made where they are.
    public var origin: UInt64 = 0
    /// Whether keys can be used without a user.
    public var needsNoAuthentication = true
    /// Further properties in the list of the secure hardware, in DER: each with its tag.
    public var furtherHardware: [UInt8] = []
    /// Changes the whole description, in DER.
    public var change: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    /// A locked phone with its maker's system of November 2026.
    public init() {}
}

/// A simulated Android device, which makes keys and has them certified by its own.
public struct SimulatedAndroidDevice: Sendable {
    /// A key with its certificates.
    public struct Key: Sendable {
        /// The certificates in DER, the key's own first, and the root last.
        public var chain: [[UInt8]]
        /// The key.
        public let key: SimulatedKey

        /// An assertion as Assay's client for Android makes it: CBOR.
        ///
        /// - Parameters:
        ///   - package: the app.
        ///   - counter: above that of the assertion before.
        ///   - message: what is signed for, such as the artifact and the challenge.
        public func assertion(
            package: String, counter: UInt32, of message: [UInt8]
        ) throws(SimulationError) -> [UInt8] {
            let data = SimulatedAuthenticatorData(
                relyingPartyIDHash: SHA256.hash(Array(package.utf8)), flags: 0, counter: counter, credential: nil,
                extensions: []
            ).bytes
            let signed = SHA256.hash(data, SHA256.hash(message))
            let signature = try SimulationError.wrapping { () throws(CryptoError) in
                try key.sign(signed, digest: .sha256)
            }
            return CBOREncoder().encode(
                .map([
                    CBORPair(.text("signature"), .bytes(signature)),
                    CBORPair(.text("authenticatorData"), .bytes(data)),
                ]))
        }
    }

    /// What the device says.
    public var state: SimulatedAndroidState
    private let attester: SimulatedKey
    private let attesterName: NameTemplate
    private let chain: [[UInt8]]
    private let now: Instant

    init(
        state: SimulatedAndroidState, attester: SimulatedKey, attesterName: NameTemplate, chain: [[UInt8]], now: Instant
    ) {
        self.state = state
        self.attester = attester
        self.attesterName = attesterName
        self.chain = chain
        self.now = now
    }

    /// Makes a key for a challenge.
    ///
    /// - Parameters:
    ///   - signer: what signs the key's certificate in place of the device's own key.
    ///   - publicKey: what is certified in place of the key.
    public func makeKey(
        challenge: [UInt8], signedBy signer: SimulatedKey? = nil, publicKey: SubjectPublicKey? = nil,
        random: Randomness = .system
    ) throws(SimulationError) -> Key {
        let key = try SimulationError.wrapping { () throws(CryptoError) in try SimulatedKey(.p256, random: random) }
        let template = CertificateTemplate(
            serialNumber: [1], issuer: attesterName, subject: NameTemplate(commonName: "Android Keystore Key"),
            // As devices have it, whose clocks do not matter.
            notBefore: Instant(seconds: 0), notAfter: Instant(seconds: 2_524_607_999),
            publicKey: publicKey ?? key.subjectPublicKey,
            extensions: [
                .keyUsage(0x80, unusedBits: 7),
                ExtensionTemplate(
                    type: [1, 3, 6, 1, 4, 1, 11129, 2, 1, 17], value: state.change(description(challenge))),
            ], digest: .sha256, signer: signer ?? attester)
        let leaf = try SimulationError.wrapping { () throws(CryptoError) in try template.signed() }
        return Key(chain: [leaf] + chain, key: key)
    }

    /// The description of a key (Android, Key attestation).
    private func description(_ challenge: [UInt8]) -> [UInt8] {
        typealias DER = DERWriter
        func enumerated(_ value: UInt8) -> [UInt8] { DER.value(0x0A, [value]) }
        func number(_ tag: UInt64, _ value: UInt64?) -> [UInt8] {
            value.map { DER.context(tag, DER.integer($0)) } ?? []
        }
        let application = DER.sequence(
            DER.set(DER.sequence(DER.octetString(Array(state.package.utf8)), DER.integer(state.versionCode))),
            DER.set(DER.octetString(state.signingDigest)))
        let root = DER.sequence(
            DER.octetString(state.bootKey), DER.boolean(state.isLocked), enumerated(state.bootState),
            DER.octetString([UInt8](repeating: 0xBB, count: 32)))
        let hardware =
            DER.context(1, DER.value(0x31, state.purposes.flatMap { DER.integer($0) })) + number(2, 3) + number(3, 256)
            + DER.context(5, DER.set(DER.integer(4))) + number(10, 1)
            + (state.needsNoAuthentication ? DER.context(503, DER.null) : []) + number(702, state.origin)
            + DER.context(704, root) + number(705, state.osVersion) + number(706, state.systemPatch)
            + number(718, state.vendorPatch) + number(719, state.bootPatch) + state.furtherHardware
        let software =
            number(701, UInt64(max(0, now.milliseconds))) + DER.context(709, DER.octetString(application))
        return DER.sequence(
            DER.integer(state.version), enumerated(state.attestationLevel), DER.integer(state.version),
            enumerated(state.keyLevel), DER.octetString(challenge), DER.octetString([]), DER.value(0x30, software),
            DER.value(0x30, hardware))
    }
}
