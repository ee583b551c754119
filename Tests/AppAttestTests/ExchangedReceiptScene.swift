import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting

/// A receipt by itself, as Apple's answer to an exchange.
struct ExchangedReceiptScene: Sendable {
    var authority: SimulatedAppleCA
    var template: ReceiptTemplate
    var appID = Simulation.app.appID
    var publicKey: [UInt8]?
    var environment: AppAttestEnvironment? = .development
    var maximumAge: Duration? = .seconds(300)
    var judged = Simulation.now

    init() throws {
        let authority = try Simulation.authority()
        self.authority = authority
        let scene = try AttestationScene()
        publicKey = try scene.key().point
        let attestation = ReceiptField.attestation(
            app: Simulation.app, certificate: try scene.leaf(), clientDataHash: Simulation.clientDataHash,
            token: [UInt8](repeating: 7, count: 64), at: Simulation.now - .seconds(86_400))
        template = ReceiptTemplate(
            fields: ReceiptField.refreshed(attestation, riskMetric: "3", at: Simulation.now), signedBy: authority)
    }

    func outcome() throws -> ReceiptOutcome {
        let verifier = ReceiptVerifier(anchors: [try TrustAnchor(der: authority.receiptRootCertificateDER)])
        return verifier.verify(
            try template.signed(),
            expecting: ReceiptExpectation(
                appID: try AppAttestAppID(appID), publicKey: publicKey, environment: environment,
                maximumAge: maximumAge),
            at: judged)
    }
}

extension AttestationScene {
    /// The leaf in the attestation that the scene makes.
    func leaf() throws -> [UInt8] {
        let box = ByteBox()
        var copy = self
        copy.options.chain = { box.bytes = $0[0] }
        _ = try copy.attestation()
        return box.bytes
    }
}
