import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayCustomBackend
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Logging
import Testing

/// What is wrong with a backend, and the key at which it is said.
private let badBackends: [(String, String, String)] = [
    ("{original_request: transport, request_proof: {}}", "missing key", "request_proof.authorities"),
    ("{original_request: transport, request_proof: {authorities: []}}", "1 to 8 hosts", "request_proof.authorities"),
    (
        "{original_request: transport, request_proof: {authorities: [\"https://a\"]}}", "expected a host",
        "request_proof.authorities[0]"
    ),
    (
        "{original_request: transport, request_proof: {authorities: [\"a:443\"]}}", "without the port",
        "request_proof.authorities[0]"
    ),
    (
        "{original_request: transport, request_proof: {authorities: [a], max_age: 11m}}", "10m",
        "request_proof.max_age"
    ),
    ("{request_proof: {authorities: [a]}}", "`original_request` must say", "request_proof"),
    (
        "{original_request: transport, tokens: {enforcement: OFF}, request_proof: {authorities: [a]}}",
        "so no proof is demanded", "request_proof"
    ),
    (
        "{original_request: transport, request_proof: {authorities: [a], required: false}}", "no route has",
        "request_proof"
    ),
    (
        "{original_request: transport, request_proof: {authorities: [a]}, "
            + "routes: [{path: /**, tokens: {}, request_proof: false}]}",
        "cover all paths", "request_proof"
    ),
    (
        "{original_request: transport, request_proof: {authorities: [a]}, "
            + "routes: [{path: /a, tokens: {enforcement: OFF}}]}",
        "write `request_proof: false`", "routes[0].tokens"
    ),
    (
        "{original_request: transport, request_proof: {authorities: [a], required: false}, "
            + "routes: [{path: /a, tokens: {enforcement: OFF}, request_proof: true}]}",
        "write `request_proof: false`", "routes[0].request_proof"
    ),
    (
        "{original_request: transport, routes: [{path: /a, tokens: {}, request_proof: true}]}", "`authorities`",
        "routes[0].request_proof"
    ),
]

@Suite("Proofs of requests to a backend")
struct RequestProofTests {
    private static let section = """
        backends:
          orders:
            original_request: x-original
            request_proof: {authorities: [api.example.com]}
            routes:
              - {path: /catalog/**, tokens: {}, request_proof: false}
              - {path: /trial/**, tokens: {enforcement: UNENFORCED}}
          some:
            original_request: x-original
            request_proof: {authorities: [api.example.com], required: false, max_age: 10m}
            routes:
              - {path: /payments/**, tokens: {}, request_proof: true}
        """

    /// An engine with an attested device.
    private final class Scene: Sendable {
        static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"

        let clock = ManualClock()
        let sink = RecordingSink()
        let engine: Engine
        let device: SimulatedDevice
        let keyID: String
        let simulated = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)
        let store: FailingStore

        init(_ section: String = RequestProofTests.section, namesKey: Bool = true) throws {
            let authority = try SimulatedAppleCA(at: clock.now)
            device = SimulatedDevice(authority: authority)
            keyID = try device.generateKey()
            store = FailingStore(MemoryStore(clock: clock.hostClock))
            engine = try Engine(
                registry: Registry([.provider(AppAttestProvider.self), .consumer(CustomBackendConsumer.self)]),
                policies: .load([
                    PolicyFile(name: "test.yaml", text: Self.policy(authority, section, namesKey: namesKey))
                ]), keys: .ephemeral(),
                host: PluginHost(
                    clock: clock.hostClock, store: store,
                    logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })), sink: sink)
        }

        static func policy(_ authority: SimulatedAppleCA, _ section: String, namesKey: Bool) -> String {
            let root = authority.rootCertificatePEM.replacing("\n", with: "\\n")
            return """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers:
                          app_attest: {key_in_tokens: \(namesKey), receipts: ignored, trust_anchor: "\(root)"}
                    consumers:
                      custom_backend:
                \(section.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n"))
                """
        }

        func token() async throws -> String {
            let asked = await engine.handle(Call("generateAppAttestChallenge", resource: Self.app))
            let text = try #require(try asked.result.get()["challenge"]?.string)
            let challenge = try #require(Base64.decode(text))
            let statement = try device.attestKey(
                keyID, clientDataHash: SHA256.hash(challenge), app: simulated, at: clock.now)
            let reply = await engine.handle(
                Call(
                    "exchangeAppAttestAttestation", resource: Self.app,
                    body: [
                        "keyId": .string(keyID), "challenge": .string(text),
                        "attestationStatement": .string(Base64.encode(statement)),
                    ]))
            // The state begins with the first call.
            clock.advance(by: .seconds(5))
            return try #require(try reply.result.get()["appCheckToken"]?["token"]?.string)
        }

        func proof(
            _ method: String = "POST", _ target: String = "/payments/1", of app: SimulatedApp? = nil
        ) throws -> JSON {
            let digest = "sha-256=:\(Base64.encode(SHA256.hash([]))):"
            let covered = #"("@method" "@authority" "@request-target" "content-digest")"#
            let parameters = "\(covered);created=\(clock.now.seconds);tag=\"appcheck-request\""
            let base = """
                "@method": \(method)
                "@authority": api.example.com
                "@request-target": \(target)
                "content-digest": \(digest)
                "@signature-params": \(parameters)
                """
            let assertion = try device.generateAssertion(
                keyID, clientDataHash: SHA256.hash(Array(base.utf8)), app: app ?? simulated)
            return [
                "contentDigest": .string(digest), "signatureInput": .string("appcheck=\(parameters)"),
                "signature": .string("appcheck=:\(Base64.encode(assertion)):"),
            ]
        }

        func ask(
            _ token: String, _ proof: JSON, _ method: String = "POST", _ target: String = "/payments/1",
            backend: String = "orders"
        ) async -> Reply {
            let members = [
                JSONMember("backend", .string(backend)), JSONMember("originalMethod", .string(method)),
                JSONMember("originalUri", .string(target)),
            ]
            return await engine.handle(
                Call("verifyRequest", body: .object(members + (proof.members ?? [])), token: .one(token)))
        }
    }

    @Test("A proof lets one request pass, and the record of another one says why not")
    func once() async throws {
        let scene = try Scene()
        let token = try await scene.token()
        let proof = try scene.proof()
        #expect(await scene.ask(token, [:]).reason == "proof_missing")
        #expect(await scene.ask(token, proof, "POST", "/payments/2").reason == "proof_signature")
        let good = await scene.ask(token, proof)
        #expect(good.reason == nil)
        #expect(try good.result.get()["proof"] == "verified")
        let facts = try #require(scene.sink.record(of: good.decision)).facts.map { "\($0.name) \($0.value)" }
        #expect(facts.contains("request_proof verified") && facts.contains("request_path /payments/1"))
        #expect(facts.contains("request_key \(scene.keyID)"))
        let again = await scene.ask(token, proof)
        #expect(again.reason == "proof_reused")
        #expect(again.status == .permissionDenied)
        #expect(scene.sink.record(of: again.decision)?.detail == "counter 1")
        let repeated: JSON = [
            "contentDigest": proof["contentDigest"] ?? .null, "signatureInput": proof["signatureInput"] ?? .null,
            "signature": .array([proof["signature"] ?? .null, proof["signature"] ?? .null]),
        ]
        #expect(await scene.ask(token, repeated).reason == "proof_malformed")
    }

    @Test("Of many that show one proof at the same time, one passes")
    func race() async throws {
        let scene = try Scene()
        let token = try await scene.token()
        let proof = try scene.proof()
        let passed = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await scene.ask(token, proof).reason == nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(passed == 1)
    }

    @Test("Routes say where a proof is needed")
    func routes() async throws {
        let scene = try Scene()
        let token = try await scene.token()
        #expect(await scene.ask(token, [:], "GET", "/catalog/1").reason == nil)
        #expect(await scene.ask(token, [:], "GET", "/other").reason == "proof_missing")
        #expect(await scene.ask(token, [:], "GET", "/other", backend: "some").reason == nil)
        #expect(await scene.ask(token, [:], backend: "some").reason == "proof_missing")
        // Another spelling of a path does not get round the demand.
        #expect(
            await scene.ask(token, [:], "POST", "/Payments/1", backend: "some").reason == "backend_target_ambiguous")
        #expect(await scene.ask(token, [:], "POST", "/caf%C3%A9", backend: "some").reason == "backend_target_ambiguous")
        scene.clock.advance(by: .seconds(1))
        let proof = try scene.proof()
        scene.clock.advance(by: .seconds(300))
        #expect(await scene.ask(token, proof).reason == "proof_too_old")
        #expect(await scene.ask(token, proof, backend: "some").reason == nil)
    }

    @Test("A proof of another app, or of a time to come, is told apart")
    func others() async throws {
        let scene = try Scene()
        let token = try await scene.token()
        let other = SimulatedApp(appID: "ABCDE12345.com.example.other", environment: .production)
        #expect(await scene.ask(token, try scene.proof(of: other)).reason == "proof_other_app")
        scene.clock.advance(by: .seconds(40))
        let ahead = try scene.proof()
        scene.clock.advance(by: .seconds(-40))
        #expect(await scene.ask(token, ahead).reason == "proof_not_yet_valid")
    }

    @Test("Where the demand is not enforced, a bad proof is put on record")
    func unenforced() async throws {
        let scene = try Scene()
        let token = try await scene.token()
        let reply = await scene.ask(token, [:], "GET", "/trial/1")
        #expect(reply.reason == nil)
        let record = try #require(scene.sink.record(of: reply.decision))
        #expect("\(record)".contains("proof_missing"))
        #expect(try reply.result.get()["proof"] == nil)
        let bad = await scene.ask(token, ["signatureInput": "a", "signature": "b"], "GET", "/trial/1")
        #expect(bad.reason == nil)
        #expect(scene.sink.record(of: bad.decision)?.detail?.contains("Content-Digest") == true)
        scene.store.isFailing = true
        let undecided = await scene.ask(token, try scene.proof("GET", "/trial/1"), "GET", "/trial/1")
        scene.store.isFailing = false
        #expect(undecided.reason == nil || undecided.status == .unavailable)
    }

    @Test("What may have been used before the state began is refused, and said to be that")
    func newState() async throws {
        let scene = try Scene()
        let token = try await scene.token()
        scene.clock.advance(by: .milliseconds(-1))
        #expect(await scene.ask(token, try scene.proof()).reason == "proof_before_state")
        scene.clock.advance(by: .seconds(1))
        #expect(await scene.ask(token, try scene.proof()).reason == nil)
    }

    @Test("A token without a key is not enough")
    func noKey() async throws {
        let scene = try Scene(namesKey: false)
        #expect(await scene.ask(try await scene.token(), try scene.proof()).reason == "proof_key_missing")
    }

    @Test("When it is unknown whether a proof was used, nothing passes")
    func storeDown() async throws {
        let scene = try Scene()
        let token = try await scene.token()
        let proof = try scene.proof()
        scene.store.isFailing = true
        #expect(await scene.ask(token, proof).status == .unavailable)
        scene.store.isFailing = false
        #expect(await scene.ask(token, proof).reason == nil)
    }

    @Test("What is wrong with the section is said at its key", arguments: badBackends)
    func wrong(_ backend: String, _ words: String, _ key: String) throws {
        let authority = try SimulatedAppleCA(at: ManualClock().now)
        let registry = try Registry([.provider(AppAttestProvider.self), .consumer(CustomBackendConsumer.self)])
        let text = Scene.policy(authority, "backends: {orders: \(backend)}", namesKey: true)
        let error = #expect(throws: (any Error).self) {
            _ = try Engine(
                registry: registry, policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .ephemeral(),
                host: VerifyService.host(ManualClock()))
        }
        let message = "\(try #require(error))"
        #expect(message.contains(words), "\(message)")
        #expect(message.contains("custom_backend.backends.orders.\(key)"), "\(message)")
    }
}
