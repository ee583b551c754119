import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayTesting
import AssayVerifier
import Logging
import Testing

/// An engine with a clock that stands still, a state in memory, and simulated devices that its policy trusts.
struct TestService {
    static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    static let appByNumber = "projects/1234567890/apps/1:1234567890:ios:321abc456def7890"
    static let otherApp = "projects/example-project/apps/1:1234567890:ios:0000000000000001"
    static let client = "oauthClients/1234567890-example.apps.googleusercontent.com"
    static let debugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"
    static let expiredDebugToken = "0A4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C11"

    let clock = ManualClock()
    let sink = RecordingSink()
    let store: FailingStore
    let keys: KeyStore
    let engine: Engine
    let authority: SimulatedAppleCA
    let device: SimulatedDevice
    let simulatedApp = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)

    init(
        authority: SimulatedAppleCA? = nil, keys: KeyStore = .pooled(), tokens: String = "",
        plugins: [Plugin] = [], providers: String = "", options: Engine.Options = Engine.Options(),
        appAttest: String = "", http: any OutboundHTTP = NoOutboundHTTP(), logger: Logger = Self.silent,
        meter: Meter = .none, workers: WorkerThreads? = nil
    ) throws {
        self.authority = try authority ?? SimulatedAppleCA(at: clock.now)
        device = SimulatedDevice(authority: self.authority)
        store = FailingStore(MemoryStore(clock: clock.hostClock))
        self.keys = keys
        let text = Self.policy(self.authority, tokens: tokens, providers: providers, appAttest: appAttest)
        var host = PluginHost(clock: clock.hostClock, store: store, http: http, logger: logger, meter: meter)
        if let workers { host.workers = workers }
        engine = try Engine(
            registry: Registry(
                [.provider(AppAttestProvider.self), .provider(DebugProvider.self)] + plugins, administration: .api),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: keys,
            host: host, sink: sink,
            options: options)
    }

    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    static func policy(
        _ authority: SimulatedAppleCA, tokens: String = "", providers: String = "", appAttest: String = ""
    ) -> String {
        """
        \(tokens)
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest:
                    token_ttl: 2h
                    trust_anchor: "\(authority.rootCertificatePEM.replacing("\n", with: "\\n"))"
                    receipt_trust_anchor: "\(authority.receiptRootCertificatePEM.replacing("\n", with: "\\n"))"
                    receipts: required
                    \(appAttest)
                  debug:
                    tokens:
                      - name: local
                        sha256: \(Hex.encode(DebugToken.hash(of: debugToken)))
                      - name: old
                        sha256: \(Hex.encode(DebugToken.hash(of: expiredDebugToken)))
                        expires: 2026-11-21T12:00:00Z
        \(providers)
              - id: 1:1234567890:ios:0000000000000001
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest:
                    trust_anchor: "\(authority.rootCertificatePEM.replacing("\n", with: "\\n"))"
              - id: 1:1234567890:ios:0000000000000002
            oauth_clients:
              - id: 1234567890-example.apps.googleusercontent.com
                app: 1:1234567890:ios:321abc456def7890
        """
    }

    func call(
        _ method: String, _ resource: String = app, version: APIVersion = .v1, _ body: JSON = [:]
    ) async -> Reply {
        await engine.handle(Call(method, version: version, resource: resource, body: body, peer: "192.0.2.1"))
    }

    func challenge(_ resource: String = app) async throws -> [UInt8] {
        let reply = try await call("generateAppAttestChallenge", resource).result.get()
        return try #require(reply["challenge"]?.string.flatMap { Base64.decode($0) })
    }

    func attest(
        _ keyID: String, challenge: [UInt8], _ resource: String = app, version: APIVersion = .v1,
        limitedUse: Bool = false, options: AttestationOptions = AttestationOptions()
    ) async throws -> Reply {
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge), app: simulatedApp, at: clock.now, options: options)
        return await call(
            "exchangeAppAttestAttestation", resource, version: version,
            [
                "key_id": .string(keyID), "attestation_statement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)), "limited_use": .bool(limitedUse),
            ])
    }

    /// A key that was attested, and its artifact.
    func attested(_ resource: String = app) async throws -> (keyID: String, artifact: [UInt8]) {
        let keyID = try device.generateKey()
        let reply = try await attest(keyID, challenge: challenge(resource), resource).result.get()
        return (keyID, try #require(reply["artifact"]?.string.flatMap { Base64.decode($0) }))
    }

    func assert(
        _ keyID: String, _ artifact: [UInt8], _ resource: String = app, limitedUse: Bool = false,
        options: AssertionOptions = AssertionOptions()
    ) async throws -> Reply {
        let challenge = try await challenge(resource)
        let assertion = try device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(artifact, challenge), app: simulatedApp, options: options)
        return await call(
            "exchangeAppAttestAssertion", resource,
            [
                "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                "challenge": .string(Base64.encode(challenge)), "limitedUse": .bool(limitedUse),
            ])
    }

    /// Verifies a token against the published keys, as a relying party does.
    func verify(_ token: String, at now: Instant? = nil) async throws -> TokenVerifier.Outcome {
        let keys = try await JWKSet(json: call("jwks", "").result.get().encoded)
        return TokenVerifier(keys: keys).verify(
            token,
            TokenVerifier.Expectation(
                issuer: "https://firebaseappcheck.googleapis.com/1234567890", audience: "projects/example-project"),
            now: now ?? clock.now)
    }
}

extension Reply {
    /// The code of the reason for a refusal.
    var reason: String? {
        if case .failure(let failure) = result { failure.reason?.code } else { nil }
    }

    var status: StatusCode? {
        if case .failure(let failure) = result { failure.status } else { nil }
    }
}

extension JSON {
    /// The claims of a token, not verified.
    static func claims(of token: String) throws -> JSON {
        let payload = token.split(separator: ".").dropFirst().first
        return try JSON.parse(try #require(payload.flatMap { Base64.decode($0) }))
    }
}
