import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayTesting
import AssayTestSupport
import Foundation
import Testing
@testable import AssayServices

@Suite("Captured evidence is judged again")
struct ReplayTests {
    /// Captures all exchanges, and judges each again.
    private func replayed(
        _ scene: CaptureScene, with replay: EvidenceReplay
    ) async throws -> [(evidence: CapturedEvidence, now: ReplayedDecision)] {
        var results: [(CapturedEvidence, ReplayedDecision)] = []
        for evidence in try await scene.records() { results.append((evidence, await replay.judge(evidence))) }
        return results
    }

    /// Exchanges of simulated devices: genuine ones, and those that are refused for a reason each.
    private func play(_ service: TestService) async throws -> [String?] {
        var reasons: [String?] = []
        var options = AttestationOptions()
        options.nonce = { $0[0] ^= 1 }
        for options in [AttestationOptions(), options] {
            let keyID = try service.device.generateKey()
            reasons.append(try await service.attest(keyID, challenge: service.challenge(), options: options).reason)
        }
        let (keyID, artifact) = try await service.attested()
        reasons.append(nil)
        reasons.append(try await service.assert(keyID, artifact).reason)
        var replayedCounter = AssertionOptions()
        replayedCounter.authenticatorData = { $0.counter = 1 }
        reasons.append(try await service.assert(keyID, artifact, options: replayedCounter).reason)
        var signature = AssertionOptions()
        signature.message = { $0[0] ^= 1 }
        reasons.append(try await service.assert(keyID, artifact, options: signature).reason)
        reasons.append(try await service.assert(keyID, [UInt8](repeating: 1, count: 100)).reason)
        for token in [TestService.debugToken, TestService.expiredDebugToken, CaptureScene.wrongToken] {
            reasons.append(
                await service.call("exchangeDebugToken", TestService.app, ["debugToken": .string(token)]).reason)
        }
        return reasons
    }

    @Test("Under the same policies the same comes out, also after years, for every outcome of simulated devices")
    func same() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "decisions: all")
            let reasons = try await play(scene.service)
            #expect(Set(reasons.compactMap(\.self)).count >= 6 && reasons.contains("counter_not_advanced"))
            let results = try await replayed(scene, with: scene.replay())
            #expect(results.map(\.evidence.reason) == reasons)
            for (evidence, now) in results {
                #expect(now.comparison(with: evidence) == .same, "\(evidence.reason ?? "issued"): \(now)")
                #expect(now.assumptions.isEmpty)
                if evidence.reason != nil { #expect(now.detail == evidence.detail) }
            }
        }
    }

    @Test("In any order, and each twice, the same comes out: evidence leaves nothing behind for the next")
    func order() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "decisions: all")
            _ = try await play(scene.service)
            let replay = try scene.replay()
            for evidence in try await scene.records().reversed() + scene.records() {
                #expect(await replay.judge(evidence).comparison(with: evidence) == .same)
            }
        }
    }

    @Test("Under a policy with another rule, what the rule judges is different, and the rest is the same")
    func ruleAdded() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "decisions: all")
            _ = try await play(scene.service)
            let rules = "        rules:\n          - {name: no-debug, when: {provider: debug}, then: refuse}"
            for (evidence, now) in try await replayed(scene, with: scene.replay(providers: rules)) {
                let isJudged = evidence.provider == "debug" && evidence.reason == nil
                #expect(now.comparison(with: evidence) == (isJudged ? .different : .same))
                if isJudged {
                    #expect(now.finding == .refused(KernelReasons.ruleRefused) && now.rule == "no-debug")
                }
            }
        }
    }

    @Test("Under a policy that does not ignore unknown fields, an exchange with one is rejected")
    func unknownFields() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "decisions: all", appAttest: "unknown_fields: ignore")
            let keyID = try scene.service.device.generateKey()
            let challenge = try await scene.service.challenge()
            let statement = try scene.service.device.attestKey(
                keyID, clientDataHash: SHA256.hash(challenge), app: scene.service.simulatedApp,
                at: scene.service.clock.now, options: AttestationOptions())
            let reply = await scene.service.call(
                "exchangeAppAttestAttestation", TestService.app,
                [
                    "keyId": .string(keyID), "challenge": .string(Base64.encode(challenge)),
                    "attestationStatement": .string(Base64.encode(statement)), "further": true,
                ])
            #expect(reply.reason == nil)
            for (evidence, now) in try await replayed(scene, with: scene.replay(appAttest: "unknown_fields: ignore")) {
                #expect(now.comparison(with: evidence) == .same)
            }
            for (evidence, now) in try await replayed(scene, with: scene.replay()) {
                #expect(now.comparison(with: evidence) == .different)
                #expect(now.finding == .rejected && now.detail?.contains("unknown field 'further'") == true, "\(now)")
            }
        }
    }

    @Test("Under a policy with other environments, evidence of production is refused for that")
    func narrowed() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "decisions: all")
            let (keyID, artifact) = try await scene.service.attested()
            #expect(try await scene.service.assert(keyID, artifact).reason == nil)
            let replay = try scene.replay(appAttest: "environments: [development]")
            for (evidence, now) in try await replayed(scene, with: replay) {
                #expect(now.comparison(with: evidence) == .different)
                guard case .refused(let reason) = now.finding else {
                    Issue.record("not refused: \(now)")
                    continue
                }
                #expect(reason.code == "environment_not_allowed")
            }
        }
    }

    @Test("A write to the state that was not made then is taken to succeed, and the result says so")
    func assumption() async throws {
        try await withTemporaryFolder { folder in
            let rules = "        rules:\n          - {name: nobody, when: {provider: app_attest}, then: refuse}"
            let authority = try SimulatedAppleCA(at: ManualClock().now)
            let open = try CaptureScene(in: folder, capture: "decisions: all", authority: authority)
            let (keyID, artifact) = try await open.service.attested()
            var signature = AssertionOptions()
            signature.message = { $0[0] ^= 1 }
            #expect(
                try await open.service.assert(keyID, artifact, options: signature).reason
                    == "assertion_signature_invalid")
            var record = try #require(try await open.records().last)
            #expect(record.state.isEmpty)
            // As if a check before the counter had refused it.
            let genuine = try await open.service.assert(keyID, artifact)
            #expect(genuine.reason == nil)
            record = try #require(try await open.records().last)
            record.state = []
            let now = try await open.replay().judge(record)
            #expect(now.finding == .issued)
            #expect(now.assumptions.count == 1 && now.assumptions[0].contains("the counter counter/"))
            // Where the record says that answers are missing, nothing is assumed.
            record.leftOut = [.state]
            #expect(try await open.replay().judge(record).finding == .notJudged)
            record.leftOut = []
            #expect(
                try await open.replay(providers: rules).judge(record).finding == .refused(KernelReasons.ruleRefused))
        }
    }

    @Test("A challenge that was refused is not judged, and neither is sealed data that was not opened then")
    func notJudged() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "decisions: all")
            let service = scene.service
            let (keyID, artifact) = try await service.attested()
            #expect(try await service.assert(keyID, artifact).reason == nil)
            let challenge = try await service.challenge()
            service.clock.advance(by: .seconds(301))
            #expect(try await service.attest(keyID, challenge: challenge).reason == "challenge_expired")
            var records = try await scene.records()
            let replay = try scene.replay()
            let expired = try #require(records.last)
            records.removeLast()
            let first = await replay.judge(expired)
            #expect(first.comparison(with: expired) == .notJudged && first.detail?.contains("challenge") == true)
            var assertion = try #require(records.last)
            assertion.opened = []
            let second = await replay.judge(assertion)
            #expect(second.comparison(with: assertion) == .notJudged && second.detail?.contains("sealed") == true)
        }
    }

    @Test("A provider that asks another server, or state that it did not read, is not judged")
    func gaps() async throws {
        try await withTemporaryFolder { folder in
            let plugins: [Plugin] = [.provider(AskingProvider.self)]
            let asking = "          asking: {}"
            let scene = try CaptureScene(in: folder, plugins: plugins, providers: asking)
            for what in ["server", "state", "list"] {
                let reply = await scene.service.call("exchangeQuestion", TestService.app, ["what": .string(what)])
                #expect(reply.reason == "question_refused")
            }
            let records = try await scene.records()
            #expect(records.map { $0.body["what"]?.string } == ["server", "state", "list"])
            let replay = try scene.replay(providers: asking, plugins: plugins)
            let details = ["it asks another server: upstream.example.com", nil, "it lists entries of the state"]
            for (record, detail) in zip(records, details) {
                let now = await replay.judge(record)
                if let detail {
                    #expect(now.comparison(with: record) == .notJudged && now.detail?.contains(detail) == true)
                } else {
                    #expect(now.comparison(with: record) == .same)
                    var without = record
                    without.state = []
                    let again = await replay.judge(without)
                    #expect(again.comparison(with: record) == .notJudged)
                    #expect(again.detail?.contains("did not read then") == true)
                }
            }
        }
    }

    @Test("An app or a method that the policies do not have is rejected, as a server would")
    func unknownApp() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder)
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            let record = try #require(try await scene.records().first)
            let replay = try scene.replay()
            var other = record
            other.resource = "projects/1/apps/1:1:ios:1"
            #expect(await replay.judge(other).finding == .rejected)
            other = record
            other.method = "exchangeNothing"
            #expect(await replay.judge(other).finding == .rejected)
            other = record
            other.body = []
            #expect(await replay.judge(other).finding == .rejected)
            other = record
            other.method = "generateAppAttestChallenge"
            #expect(await replay.judge(other).finding == .notJudged)
        }
    }
}
