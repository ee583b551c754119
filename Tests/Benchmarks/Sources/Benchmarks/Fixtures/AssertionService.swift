internal import AssayAppAttest
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import AssayTesting
internal import Logging

/// An engine with one app, and simulated devices whose keys it has attested.
struct AssertionService: Sendable {
    let engine: Engine

    private let device: SimulatedDevice
    /// The keys and what the engine gave for them.
    private var keys: [(id: String, artifact: [UInt8])] = []

    private static let app = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)
    private static let resource = DebugService.resource

    init(devices: Int) async throws {
        let authority = try SimulatedAppleCA(at: HostClock.system.now)
        // One simulated device may have as many keys as there would be devices.
        device = SimulatedDevice(authority: authority)
        engine = try Engine(
            registry: Registry([.provider(AppAttestProvider.self)]),
            policies: .load([PolicyFile(name: "benchmark.yaml", text: Self.policy(authority))]), keys: .ephemeral(),
            host: PluginHost(store: MemoryStore(clock: .system), logger: .silent), sink: NoSink())
        for _ in 0..<devices { keys.append(try await attest()) }
    }

    /// Requests that were never sent, `each` of them for every key.
    func requests(each: Int) async throws -> PreparedRequests {
        var requests = PreparedRequests(on: keys.count, each: each)
        for key in keys {
            for _ in 0..<each {
                let challenge = try await challenge()
                let assertion = try device.generateAssertion(
                    key.id, clientDataHash: SHA256.hash(key.artifact, challenge), app: Self.app)
                requests.append(
                    "exchangeAppAttestAssertion", of: Self.resource,
                    [
                        "artifact": .string(Base64.encode(key.artifact)),
                        "assertion": .string(Base64.encode(assertion)),
                        "challenge": .string(Base64.encode(challenge)),
                    ])
            }
        }
        return requests
    }

    private func attest() async throws -> (id: String, artifact: [UInt8]) {
        let challenge = try await challenge()
        let keyID = try device.generateKey()
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge), app: Self.app, at: HostClock.system.now)
        let reply = try await call(
            "exchangeAppAttestAttestation",
            [
                "keyId": .string(keyID), "attestationStatement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)),
            ])
        return (keyID, try bytes("artifact", of: reply))
    }

    private func challenge() async throws -> [UInt8] {
        try bytes("challenge", of: await call("generateAppAttestChallenge", [:]))
    }

    private func call(_ method: String, _ body: JSON) async throws -> JSON {
        try await engine.handle(Call(method, resource: Self.resource, body: body)).result.get()
    }

    private func bytes(_ name: String, of reply: JSON) throws(BenchmarkFailure) -> [UInt8] {
        guard let bytes = reply[name]?.string.flatMap({ Base64.decode($0) }) else {
            throw BenchmarkFailure("a reply has no \(name)")
        }
        return bytes
    }

    private static func policy(_ authority: SimulatedAppleCA) -> String {
        """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest:
                    receipts: ignored
                    trust_anchor: "\(authority.rootCertificatePEM.split(separator: "\n").joined(separator: "\\n"))"
        """
    }
}
