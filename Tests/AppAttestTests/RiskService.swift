import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayPolicy
import AssayTesting
import Logging
import Testing

@testable import AssayEngine
@testable import AssayServices

/// Servers with one state and one clock, a simulated device, and a simulated Apple.
struct RiskService {
    static let app = AppAttestService.app

    let clock: ManualClock
    let authority: SimulatedAppleCA
    let device: SimulatedDevice
    let team: SimulatedAppleTeam
    let apple: SimulatedAppleServer
    let store: any StateStore
    let keys = KeyStore.pooled()
    let sink = RecordingSink()
    let simulatedApp: SimulatedApp
    private let appIDPrefix: String?

    init(
        environment: SimulatedEnvironment = .production, clock: ManualClock = ManualClock(),
        store: (any StateStore)? = nil, team: SimulatedAppleTeam? = nil, appIDPrefix: String? = nil,
        authority: SimulatedAppleCA? = nil
    ) throws {
        self.clock = clock
        self.authority = try authority ?? SimulatedAppleCA(at: clock.now)
        let authority = self.authority
        device = SimulatedDevice(authority: authority)
        let team = try team ?? SimulatedAppleTeam(teamID: "ABCDE12345")
        self.team = team
        self.appIDPrefix = appIDPrefix
        apple = SimulatedAppleServer(authority: authority, teams: [team], clock: clock.hostClock)
        self.store = store ?? MemoryStore(clock: clock.hostClock)
        simulatedApp = SimulatedApp(appID: "\(appIDPrefix ?? team.teamID).com.example.app", environment: environment)
    }

    /// A server: one of several, or one after a restart.
    ///
    /// - Parameter riskMetric: what the policy's section has beside the key; nil for no section.
    func server(
        _ riskMetric: String? = "", http: (any OutboundHTTP)? = nil, store: (any StateStore)? = nil
    ) throws -> Engine {
        let pem = Array(team.privateKeyPEM.utf8)
        return try Engine(
            registry: Registry([.provider(AppAttestProvider.self)]),
            policies: policies(riskMetric), keys: keys,
            host: PluginHost(
                clock: clock.hostClock, store: store ?? self.store, secrets: SecretSource { _ in pem },
                http: http ?? apple, logger: AppAttestService.silent), sink: sink)
    }

    func policies(_ riskMetric: String?) throws -> PolicySet {
        var appAttest = "environments: [production, development]"
        if let riskMetric {
            appAttest += "\n            risk_metric: {key_id: \(team.keyID), private_key: 'env:KEY'"
            appAttest += riskMetric.isEmpty ? "}" : ", \(riskMetric)}"
        }
        var text = AppAttestService.policy(authority, appAttest: appAttest)
        if let appIDPrefix {
            text = text.replacing("team_id: ABCDE12345,", with: "team_id: ABCDE12345, app_id_prefix: \(appIDPrefix),")
        }
        return try .load([PolicyFile(name: "test.yaml", text: text)])
    }

    /// One run of the maintenance of each app, here and now.
    func maintenance(_ server: Engine) async throws {
        for entry in server.maintenance.entries {
            try await entry.maintenance.run(
                entry.context(
                    clock: clock.hostClock, deadline: clock.now + entry.maintenance.timeLimit,
                    state: StateSpace(entry.space, in: server.host.store), logger: AppAttestService.silent))
        }
    }

    /// A key that a server has attested, and its artifact.
    func attested(
        by server: Engine, keyID: String? = nil
    ) async throws -> (keyID: String, artifact: [UInt8], reply: Reply) {
        let keyID = try keyID ?? device.generateKey()
        let challenge = try await challenge(server)
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge), app: simulatedApp, at: clock.now)
        let reply = await server.handle(
            Call(
                "exchangeAppAttestAttestation", resource: Self.app,
                body: [
                    "keyId": .string(keyID), "attestationStatement": .string(Base64.encode(attestation)),
                    "challenge": .string(Base64.encode(challenge)),
                ]))
        let artifact = (try? reply.result.get()["artifact"]?.string).flatMap { Base64.decode($0) }
        return (keyID, artifact ?? [], reply)
    }

    func assert(_ server: Engine, _ keyID: String, _ artifact: [UInt8]) async throws -> Reply {
        let challenge = try await challenge(server)
        let assertion = try device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(artifact, challenge), app: simulatedApp)
        return await server.handle(
            Call(
                "exchangeAppAttestAssertion", resource: Self.app,
                body: [
                    "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                    "challenge": .string(Base64.encode(challenge)),
                ]))
    }

    /// A fact in the record of a decision.
    func fact(_ name: FactName, _ reply: Reply) -> Fact.Value? {
        sink.record(of: reply.decision)?.facts.first { $0.name == name }?.value
    }

    /// The entries of the provider's corner of the state whose names begin so.
    func entries(_ prefix: String) async throws -> [StateEntry] {
        try await store.list("app_attest/\(AppAttestService.appByNumber)", after: nil, limit: 1000)
            .filter { $0.name.hasPrefix(prefix) }
    }

    private func challenge(_ server: Engine) async throws -> [UInt8] {
        let reply = await server.handle(Call("generateAppAttestChallenge", resource: Self.app, body: [:]))
        return try #require(try reply.result.get()["challenge"]?.string.flatMap { Base64.decode($0) })
    }
}
