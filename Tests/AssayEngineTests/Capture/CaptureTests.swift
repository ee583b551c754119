import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayTesting
import AssayTestSupport
import AssayYAML
import Foundation
import Testing
@testable import AssayServices

@Suite("Captured evidence")
struct CaptureTests {
    private static func forged() -> AttestationOptions {
        var options = AttestationOptions()
        options.nonce = { $0[0] ^= 1 }
        return options
    }

    @Test("A refused exchange is captured with what is needed to judge it again, and nothing of it is in clear")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder)
            let service = scene.service
            let challenge = try await service.challenge()
            let keyID = try service.device.generateKey()
            let reply = try await service.attest(keyID, challenge: challenge, options: Self.forged())
            let lines = try await scene.lines()
            #expect(lines.count == 1)
            let text = String(decoding: try #require(lines.first), as: UTF8.self)
            for secret in [Base64.encode(challenge), keyID, "192.0.2.1", "attestation_statement", "nonce"] {
                #expect(!text.contains(secret))
            }
            let json = try JSON.parse(try #require(lines.first))
            #expect(
                json.members?.map(\.name) == ["v", "decision", "time", "resource", "provider", "method", "kid", "jwe"])
            #expect(json["kid"]?.string == JWK(scene.key.publicKey).thumbprint)

            let evidence = try #require(try await scene.records().first)
            #expect(evidence.decision == reply.decision && evidence.time == service.clock.now)
            #expect(evidence.resource == TestService.appByNumber && evidence.provider == "app_attest")
            #expect(evidence.method == "exchangeAppAttestAttestation" && evidence.reason == reply.reason)
            #expect(evidence.challenge == challenge && evidence.body["key_id"]?.string == keyID)
            #expect(evidence.detail == service.sink.record(of: reply.decision)?.detail)
            #expect(evidence.revision == "\(try #require(service.sink.record(of: reply.decision)?.revision))")
            #expect(!String(decoding: evidence.json.encoded, as: UTF8.self).contains("192.0.2.1"))
            #expect(scene.meter["evidence_captured_total"] == 1)
        }
    }

    @Test(
        "The policy says which exchanges are captured, and an app may say otherwise",
        arguments: [
            ("", "", ["refused"]), ("decisions: refused", "", ["refused"]),
            ("decisions: all", "", ["issued", "refused"]),
            ("decisions: none", "", []), ("decisions: none", "capture: all", ["issued", "refused"]),
            ("decisions: all", "capture: refused", ["refused"]), ("decisions: all", "capture: none", []),
        ])
    func choice(_ section: String, _ app: String, _ expected: [String]) async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(
                in: folder, capture: section, providers: app.isEmpty ? "" : "        \(app)")
            #expect(await scene.sendDebugToken(TestService.debugToken).reason == nil)
            #expect(await scene.sendDebugToken(CaptureScene.wrongToken).reason == "debug_token_unknown")
            let records = try await scene.records()
            #expect(records.map { $0.reason == nil ? "issued" : "refused" } == expected)
        }
    }

    @Test("An OAuth client is captured as its app is")
    func clients() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, providers: "        capture: none")
            _ = await scene.sendDebugToken(CaptureScene.wrongToken, TestService.client)
            #expect(try await scene.records().isEmpty)
        }
    }

    @Test("Without the section nothing is captured, and the folder stays empty")
    func noSection() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, section: false)
            #expect(await scene.sendDebugToken(CaptureScene.wrongToken).reason == "debug_token_unknown")
            #expect(try await scene.lines().isEmpty && scene.files.isEmpty)
            #expect(!scene.service.engine.capturesEvidence)
        }
    }

    @Test("Credentials, tokens that were issued and challenges without evidence are never captured")
    func neverCaptured() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "decisions: all")
            let service = scene.service
            let (keyID, artifact) = try await service.attested()
            let reply = try await service.assert(keyID, artifact)
            let token = try #require(try reply.result.get()["token"]?.string)
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            // Malformed, unknown and foreign requests have no evidence.
            _ = await service.call("exchangeDebugToken", TestService.app, ["debugToken": 1])
            _ = await service.call("exchangeDebugToken", "projects/1/apps/1:1:ios:1", ["debugToken": "x"])
            _ = await service.call("exchangeDebugToken", TestService.otherApp, ["debugToken": "x"])
            _ = await service.call("noSuchMethod")
            let records = try await scene.records()
            #expect(
                records.map(\.method) == [
                    "exchangeAppAttestAttestation", "exchangeAppAttestAssertion", "exchangeDebugToken",
                ])
            for record in records {
                let text = String(decoding: record.json.encoded, as: UTF8.self)
                #expect(!text.contains(token) && !text.contains("secret-of-a-caller"))
            }
        }
    }

    @Test("What a rate limit refuses is not captured: it was not appraised")
    func rateLimited() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, providers: "        rate_limit: {requests: 1, burst: 1}")
            #expect(await scene.sendDebugToken(CaptureScene.wrongToken).reason == "debug_token_unknown")
            #expect(await scene.sendDebugToken(CaptureScene.wrongToken).reason == "rate_limited")
            #expect(try await scene.records().map(\.reason) == ["debug_token_unknown"])
        }
    }

    @Test("Evidence that is too large is left out of its record as a whole, which the record says")
    func large() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "max_evidence: 1KiB")
            let reply = await scene.sendDebugToken(String(repeating: "x", count: 2000))
            #expect(reply.reason == "debug_token_unknown")
            let record = try #require(try await scene.records().first)
            #expect(record.leftOut == [.body] && record.body == .null && record.reason == "debug_token_unknown")
            let again = try await scene.replay().judge(record)
            #expect(again.comparison(with: record) == .notJudged)
            #expect(try #require(again.detail).contains("max_evidence"))
        }
    }

    @Test("A key that cannot be read is a problem of the policy at its place, and a private key is one of its own")
    func keys() throws {
        func problems(_ document: String?) -> String {
            let text = "capture: {public_key: 'file:/etc/assay/capture.pem'}"
            do {
                try PolicySet.load([PolicyFile(name: "a.yaml", text: text)]).check(
                    Registry([]),
                    host: PluginHost(
                        store: MemoryStore(clock: .system),
                        secrets: SecretSource { _ in document.map { Array($0.utf8) } }, logger: TestService.silent))
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(problems(nil).contains("a.yaml:1:23: capture.public_key: file:/etc/assay/capture.pem is not set"))
        #expect(problems("x").contains("a.yaml:1:23: capture.public_key: file:/etc/assay/capture.pem holds no PEM"))
        let key = try PrivateKey.generate(.ec(.p256))
        let secret = try key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(problems(secret).contains("is a private key, which the server must not have"))
        let other = try PrivateKey.generate(.ec(.p384)).publicKey
        #expect(problems(String(decoding: try other.pem(), as: UTF8.self)).contains("P-256"))
        #expect(problems(String(decoding: try key.publicKey.pem(), as: UTF8.self)).isEmpty)
    }
}
