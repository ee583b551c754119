import AssayAppAttest
import AssayCore
import AssayKit
import AssayTesting

/// A simulated device makes an assertion, and a verifier judges it; each part can be changed before.
struct AssertionScene: Sendable {
    var system = SimulatedSystem.iOS27
    var app = Simulation.app
    var clientDataHash = Simulation.clientDataHash
    var options = AssertionOptions()
    /// Which of the key's assertions is judged, from 1.
    var ordinal = 1

    var expectedAppID = Simulation.app.appID
    var expectedClientDataHash = Simulation.clientDataHash
    var previousCounter: UInt32 = 0
    /// Nil for the key's own.
    var publicKey: [UInt8]?

    func outcome() throws -> AssertionOutcome {
        let device = SimulatedDevice(
            authority: try Simulation.authority(), system: system, random: .seeded(10))
        let name = try device.generateKey()
        for _ in 1..<ordinal { _ = try device.generateAssertion(name, clientDataHash: [], app: app) }
        let assertion = try device.generateAssertion(
            name, clientDataHash: clientDataHash, app: app, options: options)
        return AssertionVerifier().verify(
            assertion, publicKey: try publicKey ?? device.key(name).point,
            expecting: AssertionExpectation(
                appID: try AppAttestAppID(expectedAppID), clientDataHash: expectedClientDataHash,
                previousCounter: previousCounter))
    }
}
