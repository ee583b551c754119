import AssayCore
import AssayCrypto
import AssayRequestProof
import AssayTesting
import Testing

@testable import AssayVerifier

@Suite("Demanding proofs in a backend")
struct ProofDemandTests {
    private static let content = Array(#"{"sum":1}"#.utf8)

    private struct Scene {
        let issuer: TestKey
        let tokens: VerifierScene
        let device: SimulatedDevice
        let keyID: String
        let app = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production)
        let token: String

        init(namesKey: Bool = true) throws {
            issuer = try TestKey()
            tokens = try VerifierScene([TestKey.document(issuer)])
            device = try SimulatedDevice(authority: SimulatedAppleCA(at: tokens.clock.now))
            keyID = try device.generateKey()
            let key = ConfirmationKey(
                publicKey: try device.key(keyID).point, relyingPartyHash: SHA256.hash(Array(app.appID.utf8)))
            token = try issuer.token(
                at: tokens.clock.now, namesKey ? ["cnf": #require(key).claim] : ["cnf": ["jkt": "other"]])
        }

        /// A demand that was made a while ago.
        func demand(_ used: (any UsedProofs)? = nil) throws -> ProofDemand {
            defer { tokens.clock.advance(by: .seconds(5)) }
            return ProofDemand(
                of: tokens.verifier, by: try #require(RequestProofVerifier(authorities: ["api.example.com"])),
                used: used, clock: tokens.clock.hostClock)
        }

        func proof(of request: ProvenRequest) throws -> RequestProofHeaders {
            let digest = "sha-256=:\(Base64.encode(SHA256.hash(ProofDemandTests.content))):"
            let created = tokens.clock.now.seconds
            let base = request.signatureBase(
                authority: "api.example.com", contentDigest: digest, created: created)
            let assertion = try device.generateAssertion(
                keyID, clientDataHash: SHA256.hash(Array(base.utf8)), app: app)
            let parameters = base.split(separator: "\n").last?.dropFirst("\"@signature-params\": ".count) ?? ""
            return RequestProofHeaders(
                contentDigest: digest, signatureInput: "appcheck=\(parameters)",
                signature: "appcheck=:\(Base64.encode(assertion)):")
        }
    }

    private func reason(_ outcome: TokenVerifier.Outcome) -> String? {
        if case .refused(let reason) = outcome { reason.code } else { nil }
    }

    @Test("A proof is good once, for its content, beside a token that names its key")
    func demands() async throws {
        let scene = try Scene()
        let demand = try scene.demand()
        let request = try #require(ProvenRequest(method: "POST", target: "/payments?id=7"))
        let proof = try scene.proof(of: request)
        func ask(_ token: String?, _ proof: RequestProofHeaders, _ content: [UInt8]) async throws -> String? {
            reason(try await demand.verify(token, proof, of: request, content: content))
        }
        #expect(try await ask(nil, proof, Self.content) == "token_missing")
        #expect(try await ask(scene.token, RequestProofHeaders { _ in nil }, Self.content) == "proof_missing")
        #expect(try await ask(scene.token, proof, []) == "proof_digest")
        #expect(try await ask(scene.token, proof, Self.content) == nil)
        #expect(try await ask(scene.token, proof, Self.content) == "proof_reused")
        let other = try scene.proof(of: #require(ProvenRequest(method: "PUT", target: "/payments?id=7")))
        #expect(try await ask(scene.token, other, Self.content) == "proof_signature")
        let noRequest = try await demand.verify(scene.token, proof, of: nil, content: Self.content)
        #expect(reason(noRequest) == "proof_malformed")
    }

    @Test("A token that names no key, or one in another form, is not enough")
    func keyMissing() async throws {
        let scene = try Scene(namesKey: false)
        let request = try #require(ProvenRequest(method: "POST", target: "/"))
        let outcome = try await scene.demand().verify(
            scene.token, try scene.proof(of: request), of: request, content: Self.content)
        #expect(reason(outcome) == "proof_key_missing")
    }

    @Test("Of many that show one proof at the same time, one is accepted")
    func race() async throws {
        let scene = try Scene()
        let demand = try scene.demand()
        let request = try #require(ProvenRequest(method: "POST", target: "/"))
        let proof = try scene.proof(of: request)
        let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let outcome = try await demand.verify(scene.token, proof, of: request, content: Self.content)
                    return reason(outcome) == nil ? 1 : 0
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(accepted == 1)
    }

    @Test("A process that was started anew takes no proof that was made before")
    func restart() async throws {
        let scene = try Scene()
        let request = try #require(ProvenRequest(method: "POST", target: "/"))
        let proof = try scene.proof(of: request)
        scene.tokens.clock.advance(by: .seconds(1))
        let demand = try scene.demand()
        let early = try await demand.verify(scene.token, proof, of: request, content: Self.content)
        #expect(reason(early) == "proof_before_state")
        let fresh = try await demand.verify(
            scene.token, scene.proof(of: request), of: request, content: Self.content)
        #expect(reason(fresh) == nil)
    }

    @Test("A memory that fails, or is full, is an error and accepts nothing; what has ended is forgotten")
    func memory() async throws {
        let scene = try Scene()
        let memory = MemoryUsedProofs(limit: 2, clock: scene.tokens.clock.hostClock)
        let demand = try scene.demand(memory)
        let request = try #require(ProvenRequest(method: "POST", target: "/"))
        func ask() async throws -> String? {
            let proof = try scene.proof(of: request)
            return reason(try await demand.verify(scene.token, proof, of: request, content: Self.content))
        }
        #expect(try await ask() == nil)
        #expect(try await ask() == nil)
        await #expect(throws: MemoryUsedProofs.Full.self) { try await ask() }
        scene.tokens.clock.advance(by: .seconds(780))
        #expect(try await ask() == nil)
    }

    @Test("A clock that goes ahead and back brings no used proof back")
    func clockBack() async throws {
        let scene = try Scene()
        let demand = try scene.demand()
        let request = try #require(ProvenRequest(method: "POST", target: "/"))
        let proof = try scene.proof(of: request)
        let first = try await demand.verify(scene.token, proof, of: request, content: Self.content)
        #expect(reason(first) == nil)
        scene.tokens.clock.advance(by: .seconds(300))
        let later = try await demand.verify(
            scene.token, scene.proof(of: request), of: request, content: Self.content)
        #expect(reason(later) == nil)
        scene.tokens.clock.advance(by: .seconds(-290))
        let again = try await demand.verify(scene.token, proof, of: request, content: Self.content)
        #expect(reason(again) == "proof_reused")
    }
}
