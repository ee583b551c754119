import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting

/// A simulated device attests a key, and a verifier judges it; each part can be changed before.
struct AttestationScene: Sendable {
    // The device.
    var authority: SimulatedAppleCA
    var system = SimulatedSystem.iOS27
    var app = Simulation.app
    var keySeed: UInt64 = 10
    var curve = EllipticCurve.p256
    var clientDataHash = Simulation.clientDataHash
    var made = Simulation.now
    var options = AttestationOptions()

    // The verifier.
    var roots: [[UInt8]]
    var receiptRoots: [[UInt8]]
    var expectedAppID = Simulation.app.appID
    /// Nil for the key's own.
    var expectedKeyID: [UInt8]?
    var expectedClientDataHash = Simulation.clientDataHash
    var environments: Set<AppAttestEnvironment> = [.development]
    var judged = Simulation.now
    var checksReceipt = true
    /// Nil for one that trusts the roots above.
    var receiptVerifier: ReceiptVerifier?
    var maximumAge: Duration? = .seconds(300)
    var acceptsLegacy = false

    init() throws {
        authority = try Simulation.authority()
        roots = [authority.rootCertificateDER]
        receiptRoots = [authority.receiptRootCertificateDER]
    }

    /// The key that the device will make.
    func key() throws -> SimulatedKey {
        try SimulatedKey(curve, random: .seeded(keySeed))
    }

    /// What the device sends.
    func attestation() throws -> [UInt8] {
        let device = SimulatedDevice(authority: authority, system: system, random: .seeded(keySeed))
        let name = try device.generateKey(curve)
        return try device.attestKey(name, clientDataHash: clientDataHash, app: app, at: made, options: options)
    }

    /// What the verifier expects.
    func expectation() throws -> AttestationExpectation {
        AttestationExpectation(
            appID: try AppAttestAppID(expectedAppID), keyID: try expectedKeyID ?? key().identifier,
            clientDataHash: expectedClientDataHash, environments: environments)
    }

    func verifier() throws -> AttestationVerifier {
        let receipts = try receiptVerifier ?? ReceiptVerifier(anchors: receiptRoots.map { try TrustAnchor(der: $0) })
        return AttestationVerifier(
            anchors: try roots.map { try TrustAnchor(der: $0) },
            receipts: checksReceipt
                ? .required(receipts, maximumAge: maximumAge, acceptsLegacy: acceptsLegacy) : .unchecked)
    }

    /// What comes of it, under a verifier of the scene's own or another.
    func outcome(_ verifier: AttestationVerifier? = nil) throws -> AttestationOutcome {
        try (verifier ?? self.verifier()).verify(attestation(), expecting: expectation(), at: judged)
    }
}
