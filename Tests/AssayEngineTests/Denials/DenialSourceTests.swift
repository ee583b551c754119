import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
@testable import AssayServices
import AssayTesting
import AssayTestSupport
import Foundation
import Testing

@Suite("Which deny list refused evidence")
struct DenialSourceTests {
    private static let admin = "admin-token-0123456789"
    private static let notJudged = "the server's own deny list refused the evidence, and it is not in the policy files"

    /// Further keys at the root of the policies.
    private static func root(deny: String? = nil) -> String {
        let hash = Hex.encode(SHA256.hash(Array(admin.utf8)))
        let callers = "callers: {night: {sha256: \(hash), permissions: [denyList.manage]}}"
        return "\(callers)\n\(deny.map { "deny: [\($0)]\n" } ?? "")"
    }

    private static let entry = "{provider: debug}"

    /// What a service recorded and captured of a debug token that its deny list refuses.
    private struct Scene {
        let scene: CaptureScene
        let record: DecisionRecord
        let line: [UInt8]
        let evidence: CapturedEvidence

        /// Policies without the section `capture`.
        func policies(deny: String? = nil) throws -> (policies: PolicySet, registry: Registry) {
            let text = TestService.policy(scene.service.authority, tokens: DenialSourceTests.root(deny: deny))
            let registry = scene.service.engine.registry
            return (registry.effective(try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])), registry)
        }

        func tried(from old: String?, to new: String?) throws -> ReplayReport {
            var replay = try DecisionReplay(from: try policies(deny: old), to: try policies(deny: new))
            replay.read(line[...])
            return replay.result
        }

        func judgedAgain(deny: String?) async throws -> ReplayedDecision {
            try await EvidenceReplay(policies(deny: deny).policies, registry: scene.service.engine.registry)
                .judge(evidence)
        }
    }

    private func withScene(ofServer isOfServer: Bool, _ body: (Scene) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            // The text ends the section `capture`, and the brace after it ends the last one here.
            let root = Self.root(deny: isOfServer ? nil : Self.entry)
            let scene = try CaptureScene(in: folder, capture: "decisions: all}\n\(root)profiles: {")
            let service = scene.service
            if isOfServer {
                let added = await service.engine.handle(
                    Call(
                        "createDenyEntry", resource: "projects/example-project",
                        body: ["denyEntry": ["match": ["provider": "debug"]]], credentials: BearerToken(Self.admin)))
                #expect(throws: Never.self) { try added.result.get() }
            }
            let reply = await scene.sendDebugToken(TestService.debugToken)
            #expect(reply.reason == "evidence_denied")
            let record = try #require(service.sink.records.last)
            let path = folder.appendingPathComponent("audit.ndjson").path
            let file = try AuditFile(path: path, logger: TestService.silent)
            file.record(record)
            await file.close()
            let line = try #require(try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: 0x0A).last)
            try await body(
                Scene(
                    scene: scene, record: record, line: Array(line),
                    evidence: try #require(try await scene.records().last)))
        }
    }

    @Test("What an entry of the server refused is not judged by policies, unless they refuse it, too")
    func server() async throws {
        try await withScene(ofServer: true) { scene in
            #expect(scene.record.denial == .server && scene.evidence.denial == .server)
            #expect(try JSON.parse(scene.line)["deny_list"] == "server")
            #expect(try scene.tried(from: nil, to: nil).same == 1)
            let report = try scene.tried(from: nil, to: "{jti: other}")
            #expect(report.notJudged == [ExactText(Self.notJudged): 1])
            #expect(report.decisions == 1 && report.same + report.changedCount + report.otherPolicies == 0)
            #expect(try scene.tried(from: nil, to: Self.entry).same == 1)

            let now = try await scene.judgedAgain(deny: nil)
            #expect(now.comparison(with: scene.evidence) == .notJudged && now.detail == Self.notJudged)
            #expect(try await scene.judgedAgain(deny: Self.entry).comparison(with: scene.evidence) == .same)
        }
    }

    @Test("What an entry of the policies refused is judged by other policies")
    func policies() async throws {
        try await withScene(ofServer: false) { scene in
            #expect(scene.record.denial == .policies && scene.evidence.denial == .policies)
            #expect(try JSON.parse(scene.line)["deny_list"] == "policies")
            #expect(try scene.tried(from: Self.entry, to: Self.entry).same == 1)
            let report = try scene.tried(from: Self.entry, to: nil)
            #expect(report.changed.map(\.group.new) == ["issued\(DecisionReplay.unlessDenied)"])
            #expect(report.notJudged.isEmpty)
            #expect(try await scene.judgedAgain(deny: nil).comparison(with: scene.evidence) == .different)
        }
    }

    @Test("Evidence that its provider refuses now is different, whichever list refused it then")
    func refusedEarlier() async throws {
        try await withScene(ofServer: true) { scene in
            var evidence = scene.evidence
            evidence.body = ["debugToken": .string(CaptureScene.wrongToken)]
            let replay = try EvidenceReplay(scene.policies().policies, registry: scene.scene.service.engine.registry)
            #expect(await replay.judge(evidence).comparison(with: evidence) == .different)
        }
    }

    @Test("The list of captured evidence is read as it was written, and an unknown one is none")
    func json() async throws {
        try await withScene(ofServer: true) { scene in
            let read = try CapturedEvidence(json: scene.evidence.json)
            #expect(read == scene.evidence)
            let members = (scene.evidence.json.members ?? []).map {
                $0.name == "deny_list" ? JSONMember("deny_list", "elsewhere") : $0
            }
            #expect(throws: EvidenceError.self) { try CapturedEvidence(json: .object(members)) }
        }
    }
}
