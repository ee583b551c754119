internal import AssayAndroidKey
internal import AssayAppAttest
public import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
public import AssayTesting
internal import AssayVerifier

/// The simulated device and authority that the evidence of the corpora is from, and what a server expects of it.
///
/// All keys come from seeds, so that evidence made by one process is good in any other. Only the root of receipts, which
/// receipts must contain byte by byte, is kept as it was once signed.
public struct FuzzScene: Sendable {
    /// The time of all evidence: 2026-11-21T12:00:00Z.
    public static let now = Instant(seconds: 1_795_262_400)
    /// The hash of the challenge in all evidence.
    public static let clientDataHash = SHA256.hash(Array("a challenge".utf8))
    /// The app that the evidence is from.
    public static let app = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .development)
    /// The issuer of the tokens.
    public static let issuer = "https://firebaseappcheck.googleapis.com/1234567890"
    /// The audience of the tokens.
    public static let audience = "projects/example-project"

    /// The challenge of the keys of Android.
    public static let androidChallenge = Array("a challenge".utf8)

    /// The simulated authority.
    public let authority: SimulatedAppleCA
    /// The device's key, the first one that ``device(_:)`` makes.
    public let key: SimulatedKey
    let appID: AppAttestAppID
    let attestations: AttestationVerifier
    let attestationsWithoutReceipts: AttestationVerifier
    let receipts: ReceiptVerifier
    let publicKey: ECPublicKey
    /// The statement of a genuine attestation.
    let attestation: [UInt8]
    /// The key that claims are signed with.
    let signer: JWSSigner
    let tokens: TokenVerifier
    let android: SimulatedAndroidAuthority
    let androidVerifier: AndroidKeyVerifier
    let play: PlayScene

    /// The one scene of this process.
    public static func shared() throws -> FuzzScene { try made.get() }

    private static let made = Result { try FuzzScene() }
    private static let seed: UInt64 = 10

    private init() throws {
        authority = try SimulatedAppleCA(at: Self.now, random: .seeded(1))
        key = try SimulatedKey(.p256, random: .seeded(Self.seed))
        appID = try AppAttestAppID(Self.app.appID)
        let anchor = try TrustAnchor(der: authority.rootCertificateDER)
        receipts = ReceiptVerifier(anchors: [try TrustAnchor(der: Self.receiptRoot)])
        attestations = AttestationVerifier(
            anchors: [anchor], receipts: .required(receipts, maximumAge: .seconds(300), acceptsLegacy: true))
        attestationsWithoutReceipts = AttestationVerifier(anchors: [anchor], receipts: .unchecked)
        publicKey = try ECPublicKey(curve: .p256, x963: key.point)
        let device = Self.device(.iOS27, authority)
        attestation = try device.attestKey(
            try device.generateKey(), clientDataHash: Self.clientDataHash, app: Self.app, at: Self.now)
        android = try SimulatedAndroidAuthority(now: Self.now, random: .seeded(Self.seed + 1))
        androidVerifier = AndroidKeyVerifier(
            roots: try PEM.blocks("CERTIFICATE", in: Array(android.rootPEM.utf8)).map { try TrustAnchor(der: $0) })
        play = try PlayScene(random: .seeded(Self.seed + 4))
        let tokenKey = try PrivateKey.generate(.ec(.p256))
        signer = try JWSSigner(key: tokenKey, keyID: "fuzz", algorithm: .es256)
        tokens = TokenVerifier(keys: JWKSet([JWK(signing: tokenKey.publicKey, keyID: "fuzz")]))
    }

    /// A device whose first key is the one that is expected.
    public func device(_ system: SimulatedSystem) -> SimulatedDevice {
        Self.device(system, authority)
    }

    private static func device(_ system: SimulatedSystem, _ authority: SimulatedAppleCA) -> SimulatedDevice {
        SimulatedDevice(authority: authority, system: system, random: .seeded(seed))
    }

    /// A key of a device with Android.
    ///
    /// - Parameter change: changes what the device says of it, in DER.
    public func androidKey(
        signedBy signer: SimulatedKey? = nil, _ change: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }
    ) throws -> SimulatedAndroidDevice.Key {
        var state = SimulatedAndroidState()
        state.change = change
        return try android.device(state, random: .seeded(Self.seed + 2))
            .makeKey(challenge: Self.androidChallenge, signedBy: signer, random: .seeded(Self.seed + 3))
    }

    /// A token of Play Integrity, and its parts.
    public var playToken: (header: [UInt8], contentKey: [UInt8], content: [UInt8], payload: [UInt8]) {
        get throws { (PlayScene.header, play.contentKey, try play.content(of: PlayScene.payload), PlayScene.payload) }
    }

    /// A token of Play Integrity with any content.
    public func playToken(holding content: [UInt8]) throws -> [UInt8] { try play.token(holding: content) }

    /// What a token of Play Integrity says, signed by the app's key or by another one.
    public func playContent(of payload: [UInt8], isForged: Bool = false) throws -> [UInt8] {
        try play.content(of: payload, isForged: isForged)
    }

    /// A receipt with the root that ``receiptRoot`` is.
    public func receipt(_ fields: [ReceiptField]) -> ReceiptTemplate {
        var template = ReceiptTemplate(fields: fields, signedBy: authority)
        Self.changeRoot(of: &template)
        return template
    }

    /// Puts the root that ``receiptRoot`` is in the place of the authority's.
    public static func changeRoot(of template: inout ReceiptTemplate) {
        template.certificates = template.certificates.dropLast() + [receiptRoot]
    }

    var attestationExpectation: AttestationExpectation {
        AttestationExpectation(
            appID: appID, keyID: key.identifier, clientDataHash: Self.clientDataHash,
            environments: [.development, .production])
    }

    var assertionExpectation: AssertionExpectation {
        AssertionExpectation(appID: appID, clientDataHash: Self.clientDataHash, previousCounter: 0)
    }

    var receiptExpectation: ReceiptExpectation {
        ReceiptExpectation(
            appID: appID, publicKey: key.point, environment: .development, maximumAge: .seconds(100 * 86_400))
    }

    static let tokenExpectation = TokenVerifier.Expectation(issuer: issuer, audience: audience)
}
