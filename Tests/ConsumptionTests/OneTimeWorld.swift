import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayCustomBackend
import AssayDeviceCheck
import AssayEngine
import AssayKit
import AssayOAuthClient
import AssayPolicy
import AssayServices
import AssayTesting
import Logging
import Synchronization
import Testing

/// A kind of thing that is valid once.
enum OneTimeSubject: String, CaseIterable, Sendable {
    case limitedUseToken, sessionToken, clientAssertion, challenge, requestProof, dpopProof, clientProof, deviceToken

    /// Whether it tells when it was made; if not, a state that was lost cannot refuse it.
    var tellsTime: Bool { self != .deviceToken }

    /// The code of what may have been used before the state began, for kinds that have their own.
    var codeBeforeState: String? {
        switch self {
        case .requestProof: "proof_before_state"
        case .dpopProof: "dpop_proof_before_state"
        case .clientProof: "client_proof_before_state"
        case .limitedUseToken, .sessionToken, .clientAssertion, .challenge, .deviceToken: nil
        }
    }

    /// How long after its use it is shown again under a policy that accepts things for longer: later than a memory that went by
    /// the former policy would know of it, and before it expires by itself.
    var waitForRaisedLimit: Duration {
        switch self {
        case .dpopProof, .clientProof: .seconds(700)
        case .limitedUseToken, .sessionToken, .clientAssertion, .challenge, .requestProof, .deviceToken: .seconds(80)
        }
    }
}

/// What a service answers to something that is valid once.
enum OneTimeAnswer: Equatable, Sendable {
    case accepted
    case refused(String)
    /// With what the record says.
    case undecided(String)

    var isAccepted: Bool { self == .accepted }
    /// The code of the reason.
    var code: String? {
        if case .refused(let text) = self { text.split(separator: " ").first.map { String($0) } } else { nil }
    }
    /// Whether it was refused because it was used before, or may have been.
    var isRefusedAsUsed: Bool {
        guard case .refused(let reason) = self else { return false }
        return ["reused", "already_used", "replayed", "before_state"].contains { reason.contains($0) }
    }
}

/// One thing, and how it is shown to a server.
struct OneTimeItem: Sendable {
    let show: @Sendable (Engine) async throws -> OneTimeAnswer
}

/// A store that notes what was written, so that a backup of any time can be made.
final class JournalStore: StateStore {
    private enum Write: Sendable {
        case commit([StateChange])
        case put(StateKey, [UInt8]?, Instant?)
    }

    private let store: MemoryStore
    private let writes = Mutex<[Write]>([])

    init(_ clock: ManualClock) {
        store = MemoryStore(clock: clock.hostClock)
    }

    var neverBlocks: Bool { true }
    /// How much was written: a time for ``backup(of:_:)``.
    var count: Int { writes.withLock { $0.count } }

    /// The namespace of the last entry that was inserted.
    var lastSpace: String? {
        writes.withLock { writes in
            writes.compactMap { if case .commit(let changes) = $0 { changes.first?.key.space } else { nil } }
                .last { !$0.hasSuffix("challenge_keys") }
        }
    }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        let refused = try await store.commit(changes)
        if refused == nil { writes.withLock { $0.append(.commit(changes)) } }
        return refused
    }

    func get(_ key: StateKey) async throws -> [UInt8]? { await store.get(key) }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await store.put(key, value: value, expires: expires)
        writes.withLock { $0.append(.put(key, value, expires)) }
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        await store.list(space, after: name, limit: limit)
    }

    /// The state as it was after so many writes, marked as a copy.
    func backup(of count: Int, _ clock: ManualClock) async throws -> JournalStore {
        let copy = JournalStore(clock)
        for write in writes.withLock({ $0.prefix(count) }) {
            switch write {
            case .commit(let changes): _ = try await copy.commit(changes)
            case .put(let key, let value, let expires): try await copy.put(key, value: value, expires: expires)
            }
        }
        try await copy.put(StateKey("state", "copied"), value: Array("\(clock.now)".utf8), expires: nil)
        return copy
    }
}

/// A service with every kind of thing that is valid once, whose servers, state and policies a test replaces.
struct OneTimeWorld: Sendable {
    static let appID = "1:1234567890:ios:321abc456def7890"
    static let app = "projects/1234567890/apps/\(appID)"
    private static let admin = "admin-token-0123456789"
    private static let server = "https://login.example.com"
    private static let client = "mapped-client"

    let clock = ManualClock()
    let sink = RecordingSink()
    private let keys = KeyStore.pooled()
    private let authority: SimulatedAppleCA
    private let team: SimulatedAppleTeam
    private let apple: SimulatedAppleServer
    private let device: SimulatedDevice
    private let simulated = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)
    private let attester: PrivateKey
    private let clientKey: PrivateKey

    init() throws {
        authority = try SimulatedAppleCA(at: clock.now)
        team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        apple = SimulatedAppleServer(
            authority: try SimulatedAppleCA(at: clock.now), teams: [team], form: .bearer, clock: clock.hostClock)
        device = SimulatedDevice(authority: authority)
        attester = try PrivateKey.generate(.ec(.p256))
        clientKey = try PrivateKey.generate(.ec(.p256))
    }

    /// Starts a server.
    ///
    /// - Parameter isRaised: whether its policies accept things for as long as possible, or for as short.
    func start(_ store: any StateStore, isRaised: Bool = false) throws -> Engine {
        let secrets = [
            "env:KEY": Array(team.privateKeyPEM.utf8),
            "env:ATTESTER": JWKSet([JWK(signing: attester.publicKey, keyID: "attester")]).json.encoded,
        ]
        return try Engine(
            registry: Registry(
                [
                    .provider(AppAttestProvider.self), .provider(DeviceCheckProvider.self),
                    .consumer(CustomBackendConsumer.self), .consumer(OAuthClientConsumer.self),
                ], administration: .api),
            policies: .load([PolicyFile(name: "test.yaml", text: policy(isRaised))]), keys: keys,
            host: PluginHost(
                clock: clock.hostClock, store: store, secrets: SecretSource { secrets[$0.description] }, http: apple,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })), sink: sink)
    }

    private func policy(_ isRaised: Bool) -> String {
        let root = authority.rootCertificatePEM.replacing("\n", with: "\\n")
        return """
            tokens: {algorithm: ES256}
            callers:
              admin: {sha256: \(Hex.encode(SHA256.hash(Array(Self.admin.utf8)))), permissions: [admin]}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: "\(Self.appID)"
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers:
                      app_attest: {key_in_tokens: true, receipts: ignored, trust_anchor: "\(root)"}
                      device_check: {key_id: \(team.keyID), private_key: "env:KEY"}
                consumers:
                  custom_backend:
                    backends:
                      once: {tokens: {replay_protection: ENFORCED, max_age: \(isRaised ? "1h" : "10s")}}
                      proofs:
                        original_request: x-original
                        request_proof: {authorities: [api.example.com], max_age: \(isRaised ? "10m" : "10s")}
                  oauth_client:
                    authorization_servers: ["\(Self.server)"]
                    clients: {"\(Self.appID)": \(Self.client)}
                    client_assertion: {max_age: \(isRaised ? "1h" : "10s")}
                    verifier:
                      own: false
                      attesters: [{jwks: "env:ATTESTER"}]
                      window: \(isRaised ? "1h" : "30s")
            """
    }

    private func call(_ method: String, _ body: JSON, token: String? = nil, resource: String = "", _ engine: Engine)
        async -> Reply
    {
        await engine.handle(
            Call(
                method, resource: resource, body: body, credentials: BearerToken(Self.admin),
                token: token.flatMap { PresentedToken([$0]) }))
    }

    private func answer(_ reply: Reply) -> OneTimeAnswer {
        guard case .failure(let failure) = reply.result else { return .accepted }
        let detail = sink.record(of: reply.decision)?.detail ?? ""
        if failure.status == .unavailable { return .undecided(detail) }
        return .refused("\(failure.reason?.code ?? "\(failure.status)") \(detail)")
    }

    /// Makes a new thing.
    func make(_ subject: OneTimeSubject, _ engine: Engine) async throws -> OneTimeItem {
        switch subject {
        case .limitedUseToken, .sessionToken:
            let token = try await token(limitedUse: subject == .limitedUseToken, engine)
            return OneTimeItem { engine in
                answer(await call("verifyRequest", ["backend": "once"], token: token, engine))
            }
        case .clientAssertion:
            let token = try await token(limitedUse: true, engine)
            let body: JSON = [
                "audience": .string(Self.server), "client_id": .string(Self.client),
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:appcheck",
                "client_assertion": .string(token),
            ]
            return OneTimeItem { answer(await call("verifyClientAssertion", body, $0)) }
        case .challenge:
            let challenge = try await challenge(engine)
            return OneTimeItem { answer(try await attest(challenge, try device.generateKey(), $0)) }
        case .requestProof:
            let keyID = try device.generateKey()
            let reply = try await attest(try await challenge(engine), keyID, engine)
            let token = try #require(try reply.result.get()["appCheckToken"]?["token"]?.string)
            let body = try requestProof(keyID)
            return OneTimeItem { answer(await call("verifyRequest", body, token: token, $0)) }
        case .dpopProof: return try client(["dpop": [.string(try dpop())]])
        case .clientProof: return try client(["clientAttestationPop": [.string(try possession())]])
        case .deviceToken:
            let number = Int(Randomness.system.bytes(3).reduce(0) { $0 << 8 | Int($1) })
            let token = SimulatedAppleServer.deviceToken(of: "a", in: .production, number: number)
            return OneTimeItem { engine in
                answer(
                    await call(
                        "exchangeDeviceCheckToken", ["device_token": .string(token)], resource: Self.app, engine))
            }
        }
    }

    private func token(limitedUse: Bool, _ engine: Engine) async throws -> String {
        let reply = await call(
            "mintAppCheckToken", limitedUse ? ["limitedUseConfig": [:]] : [:], resource: Self.app, engine)
        return try #require(try reply.result.get()["token"]?.string)
    }

    private func challenge(_ engine: Engine) async throws -> String {
        let reply = await call("generateAppAttestChallenge", [:], resource: Self.app, engine)
        return try #require(try reply.result.get()["challenge"]?.string)
    }

    private func attest(_ challenge: String, _ keyID: String, _ engine: Engine) async throws -> Reply {
        let bytes = try #require(Base64.decode(challenge))
        let statement = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(bytes), app: simulated, at: clock.now)
        let body: JSON = [
            "keyId": .string(keyID), "challenge": .string(challenge),
            "attestationStatement": .string(Base64.encode(statement)),
        ]
        return await call("exchangeAppAttestAttestation", body, resource: Self.app, engine)
    }

    private func requestProof(_ keyID: String) throws -> JSON {
        let digest = "sha-256=:\(Base64.encode(SHA256.hash([]))):"
        let covered = #"("@method" "@authority" "@request-target" "content-digest")"#
        let parameters = "\(covered);created=\(clock.now.seconds);tag=\"appcheck-request\""
        let base = """
            "@method": POST
            "@authority": api.example.com
            "@request-target": /orders
            "content-digest": \(digest)
            "@signature-params": \(parameters)
            """
        let assertion = try device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(Array(base.utf8)), app: simulated)
        return [
            "backend": "proofs", "originalMethod": "POST", "originalUri": "/orders",
            "contentDigest": .string(digest), "signatureInput": .string("appcheck=\(parameters)"),
            "signature": .string("appcheck=:\(Base64.encode(assertion)):"),
        ]
    }
}

// MARK: - Clients that prove themselves to an authorization server

extension OneTimeWorld {
    private func client(_ proof: JSON) throws -> OneTimeItem {
        let key = ClientKey(clientKey.publicKey)
        let attestation = try sign(
            ["typ": "oauth-client-attestation+jwt", "alg": "ES256", "kid": "attester"],
            [
                "sub": .string(Self.client), "iat": .integer(clock.now.seconds),
                "exp": .integer(clock.now.seconds + 86_400), "cnf": key.confirmation,
            ], by: attester)
        let body: JSON = .object(
            [
                JSONMember("audience", .string(Self.server)), JSONMember("method", "POST"),
                JSONMember("uri", .string("\(Self.server)/token")),
                JSONMember("clientAttestation", [.string(attestation)]),
            ] + (proof.members ?? []))
        return OneTimeItem { answer(await call("verifyClientAttestation", body, $0)) }
    }

    private func possession() throws -> String {
        try sign(
            ["typ": "oauth-client-attestation-pop+jwt", "alg": "ES256"],
            [
                "aud": .string(Self.server), "jti": .string(Hex.encode(Randomness.system.bytes(12))),
                "iat": .integer(clock.now.seconds),
            ], by: clientKey)
    }

    private func dpop() throws -> String {
        try sign(
            ["typ": "dpop+jwt", "alg": "ES256", "jwk": ClientKey(clientKey.publicKey).jwk],
            [
                "htm": "POST", "htu": .string("\(Self.server)/token"),
                "jti": .string(Hex.encode(Randomness.system.bytes(12))), "iat": .integer(clock.now.seconds),
            ], by: clientKey)
    }

    private func sign(_ header: JSON, _ claims: JSON, by key: PrivateKey) throws -> String {
        let input = Base64.encodeURL(header.encoded) + "." + Base64.encodeURL(claims.encoded)
        return input + "." + Base64.encodeURL(try key.sign(Array(input.utf8), as: .raw))
    }
}
