import AssayApple
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Testing

@testable import AssayAppAttest

/// A receipt that is exchanged at a simulated server, by a clock that stands still.
struct ExchangeScene: Sendable {
    let clock = ManualClock(Simulation.now)
    let authority: SimulatedAppleCA
    let team: SimulatedAppleTeam
    let apple: SimulatedAppleServer
    var kept: KeptReceipt
    var form = AppleAuthorizationForm.bare

    init(form: SimulatedAppleServer.AuthorizationForm = .either, team: String? = nil) throws {
        let scene = try AttestationScene()
        authority = scene.authority
        self.team = try SimulatedAppleTeam(teamID: team ?? String(Simulation.app.appID.prefix(10)))
        apple = SimulatedAppleServer(
            authority: scene.authority, teams: [self.team], form: form, clock: clock.hostClock)
        guard case .verified(let attestation) = try scene.outcome(),
            case .verified(let receipt)? = attestation.receipt, let bytes = attestation.receiptBytes
        else { throw SimulationError.unknownKey("the attestation is refused") }
        kept = KeptReceipt(
            receipt, bytes: bytes, environment: attestation.environment,
            publicKey: attestation.publicKey, root: SHA256.hash(scene.authority.receiptRootCertificateDER))
    }

    func exchange(http: (any OutboundHTTP)? = nil) throws -> ReceiptExchange {
        let pem = Array(team.privateKeyPEM.utf8)
        return ReceiptExchange(
            http: http ?? apple, clock: clock.hostClock, randomness: .system,
            key: try AppleServerKey(teamID: team.teamID, keyID: team.keyID, key: PrivateKey(pem: pem)), form: form,
            endpoints: [
                .production: try #require(EndpointURL("https://data.appattest.apple.com/v1/attestationData")),
                .development: try #require(
                    EndpointURL("https://data-development.appattest.apple.com/v1/attestationData")),
            ],
            verifier: ReceiptVerifier(anchors: [try TrustAnchor(der: authority.receiptRootCertificateDER)]),
            appID: try AppAttestAppID(Simulation.app.appID))
    }

    /// What comes of an exchange; whatever it waits for comes at once.
    func outcome(within limit: Duration = .seconds(90)) async throws -> ReceiptExchangeOutcome {
        let exchange = try exchange()
        let (kept, clock) = (kept, clock)
        return await withTaskGroup(of: ReceiptExchangeOutcome?.self) { group in
            group.addTask { await exchange.exchange(kept, deadline: clock.now + limit) }
            group.addTask {
                while true {
                    await clock.waitForSleepers(1)
                    guard !Task.isCancelled else { return nil }
                    clock.advance(by: .seconds(1))
                    await Task.yield()
                }
            }
            defer { group.cancelAll() }
            return await group.next().flatMap { $0 } ?? .failed(ReceiptExchangeFailure(.cancelled))
        }
    }
}
