import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import AssayTestSupport
import Foundation
import Logging
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The commands about audit files", .timeLimit(.minutes(20)))
struct AuditCommandTests {
    private static let start = Instant(seconds: 1_795_262_400)

    /// A folder with an audit file of two refusals and a token.
    private func withFile(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let file = try AuditFile(
                path: folder.appendingPathComponent("audit.jsonl").path,
                logger: Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() })
            let outcomes: [DecisionRecord.Outcome] = [
                .refused(KernelReasons.challengeExpired), .refused(KernelReasons.rateLimited),
                .issued(tokenID: "token-1", limitedUse: false, expires: Self.start + .seconds(3600)),
            ]
            for (index, outcome) in outcomes.enumerated() {
                file.record(
                    DecisionRecord(
                        decision: DecisionID(text: "01M\(index)"), time: Self.start + .seconds(60 * index),
                        duration: .milliseconds(3), method: "exchangeDebugToken",
                        resource: "projects/1/apps/1:1:ios:\(index)", provider: "debug", outcome: outcome,
                        detail: "it is 7, and 5 is expected", facts: [Fact("key_id", .text("key=="))],
                        peer: "192.0.2.1",
                        rules: RuleFindings(decided: "old", wouldRefuse: ["tried"]),
                        revision: PolicyRevision(hash: "0123456789abcdef", label: "r7"),
                        route: "POST /v1/{resource=projects/*/apps/*}:exchangeDebugToken"))
            }
            await file.close()
            try await body(folder)
        }
    }

    @Test("verify says intact with 0, names file and line of a change with 1, and ends with 2 when it cannot read")
    func verify() async throws {
        try await withFile { folder in
            let intact = try await AssayProcess.run("audit", "verify", "audit.jsonl", folder: folder)
            #expect(intact.status == 0)
            #expect(intact.lines.last == "intact: 4 lines in 1 file")
            let head = try #require(intact.lines[0].split(separator: " ").last.map(String.init))
            let expected = try await AssayProcess.run(
                "audit", "verify", ".", "--expect", head, "--expect", head, folder: folder)
            #expect(expected.status == 0)

            let path = folder.appendingPathComponent("audit.jsonl")
            var lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").map(String.init)
            lines.remove(at: 1)
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: path)
            let broken = try await AssayProcess.run("audit", "verify", "audit.jsonl", folder: folder)
            #expect(broken.status == 1)
            #expect(broken.lines.first == "audit.jsonl:2: line 2 of the chain is missing before this line")
            let json = try await AssayProcess.run("audit", "verify", "audit.jsonl", "--format", "json", folder: folder)
            let report = try JSON.parse(Array(json.output.utf8))
            #expect(report["intact"] == false)
            #expect(report["findings"]?.array?.first?["first_missing"] == 2)

            try Data((lines.dropLast().joined(separator: "\n") + "\n").utf8).write(to: path)
            let cut = try await AssayProcess.run("audit", "verify", "audit.jsonl", "--expect", head, folder: folder)
            #expect(cut.status == 1)
            #expect(cut.output.contains("the end was removed"))
            for arguments in [
                ["nothing.jsonl"], ["audit.jsonl", "--expect", "x"], ["audit.jsonl", "--after", "x"], [],
            ] {
                let process = try AssayProcess(["audit", "verify"] + arguments, folder: folder)
                #expect(await process.result().status == 2)
            }
        }
    }

    @Test("show explains a decision: when, who, what was checked, why, and what to do")
    func show() async throws {
        try await withFile { folder in
            let shown = try await AssayProcess.run(
                "decisions", "show", "01M0", "--audit", "audit.jsonl", folder: folder)
            #expect(shown.status == 0)
            for words in [
                "Decision 01M0: refused, because of challenge_expired", "2026-11-21T12:00:00.000Z, took 3",
                "projects/1/apps/1:1:ios:0",
                "r7@0123456789abcdef", "POST /v1/", "key_id:  key==", "The rule 'old' of the policy decided.",
                "The rule 'tried' is in shadow", "it is 7, and 5 is expected", KernelReasons.challengeExpired.summary,
                KernelReasons.challengeExpired.advice, "The client got:",
            ] { #expect(shown.output.contains(words), "\(words)\n\(shown.output)") }
            let json = try await AssayProcess.run(
                "decisions", "show", "01M2", "--audit", "audit.jsonl", "--format", "json", folder: folder)
            #expect(try JSON.parse(Array(json.output.utf8.dropLast()))["jti"] == "token-1")
            let missing = try await AssayProcess.run(
                "decisions", "show", "01M9", "--audit", "audit.jsonl", folder: folder)
            #expect(missing.status == 1)
            #expect(missing.errors.contains("only in a sum"))
            let none = try await AssayProcess.run("decisions", "show", "01M9", "--audit", "other", folder: folder)
            #expect(none.status == 2)
        }
    }

    @Test("list prints one line each, the newest first, and stats counts; without an index they say so")
    func list() async throws {
        try await withFile { folder in
            let all = try await AssayProcess.run("decisions", "list", "--audit", "audit.jsonl", folder: folder)
            #expect(all.status == 0)
            #expect(
                all.lines.map { $0.split(separator: " ").dropFirst().first ?? "" } == ["(UTC)", "01M2", "01M1", "01M0"])
            let some = try await AssayProcess.run(
                "decisions", "list", "--outcome", "refused", "--since", "2026-11-21T12:00:30Z", "--no-index", "--audit",
                "audit.jsonl", folder: folder)
            #expect(some.lines.count == 2)
            #expect(some.errors.contains("read without an index"))
            let none = try await AssayProcess.run(
                "decisions", "list", "--app", "1:1:ios:9", "--audit", "audit.jsonl", folder: folder)
            #expect(none.status == 1)
            let stats = try await AssayProcess.run(
                "decisions", "stats", "--by", "outcome", "--audit", "audit.jsonl", folder: folder)
            #expect(stats.lines == ["2  refused", "1  issued"])
            let index = try await AssayProcess.run("audit", "index", "audit.jsonl", folder: folder)
            #expect(index.status == 0)
        }
    }

    @Test("With --audit - standard output has nothing but records, and a file beside it has the same decisions")
    func standardOutput() async throws {
        try await withTemporaryFolder { folder in
            try AssayServer.writePolicy(in: folder, trusting: try SimulatedAppleCA(at: HostClock.system.now))
            let process = try AssayProcess(
                ["serve", "--listen", "127.0.0.1:0", "--state", "memory", "--audit", "-", "--audit", "audit.jsonl"],
                folder: folder)
            while !process.errorsSoFar.contains("assay listens on") {
                try #require(process.process.isRunning, "\(process.errorsSoFar)")
                try await Task.sleep(for: .milliseconds(20))
            }
            let line = try #require(
                process.errorsSoFar.split(separator: "\n").first { $0.contains("assay listens on") })
            let base = try #require(line.split(separator: " ").last)
            let url = try #require(URL(string: "\(base)/v1/\(AssayServer.app):generateAppAttestChallenge"))
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            _ = try await URLSession.shared.data(for: request)
            process.process.terminate()
            let result = await process.result()
            #expect(result.status == 0)
            let records = try result.lines.map { try JSON.parse(Array($0.utf8)) }
            #expect(records.contains { $0["outcome"] == "challenged" })
            #expect(records.map { $0["seq"]?.integer } == (1...records.count).map { Int64($0) })
            let file = try String(contentsOf: folder.appendingPathComponent("audit.jsonl"), encoding: .utf8)
            #expect(file.split(separator: "\n").count == records.count)
        }
    }
}
