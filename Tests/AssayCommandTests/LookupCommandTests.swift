import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import AssayTestSupport
import Foundation
import Logging
import Testing

@Suite("Look-ups of decisions and events for an operator", .timeLimit(.minutes(20)))
struct LookupCommandTests {
    private static let start = Instant(seconds: 1_795_262_400)

    /// A folder with an audit file: what is in shadow would have refused decision 1 and 2, and 3 was not enforced.
    private func withFile(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let file = try AuditFile(
                path: folder.appendingPathComponent("audit.jsonl").path,
                logger: Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() },
                clock: ManualClock(Self.start).hostClock)
            func record(
                _ number: Int, _ outcome: DecisionRecord.Outcome, unenforced: Reason? = nil,
                wouldRefuse: [ExactText] = [], service: String? = nil
            ) {
                file.record(
                    DecisionRecord(
                        decision: DecisionID(text: "01M\(number)"), time: Self.start + .seconds(60 * number),
                        duration: .milliseconds(3), method: "exchangeDebugToken",
                        resource: "projects/1/apps/1:1:ios:a", provider: "debug", outcome: outcome, detail: nil,
                        facts: [], peer: "192.0.2.1",
                        tokenUse: service.map {
                            TokenUse(
                                project: "1", service: $0, app: "1:1:ios:a", category: .verified,
                                enforcement: .enforced,
                                isAdmitted: true)
                        }, unenforced: unenforced,
                        rules: RuleFindings(wouldRefuse: wouldRefuse)))
            }
            file.record(AuditEvent(time: Self.start, kind: .started))
            record(0, .refused(KernelReasons.challengeExpired))
            record(1, .answered, wouldRefuse: ["busy-device", "debug:challenge_expired"])
            record(2, .answered, wouldRefuse: ["debug:challenge_expired", "other:unheard_of"])
            record(3, .rejected(.notFound), unenforced: KernelReasons.rateLimited)
            record(4, .answered, service: "orders")
            file.record(
                AuditEvent(
                    time: Self.start + .seconds(300), kind: .denyAdded, caller: "night",
                    details: [
                        JSONMember("entry", "projects/1/denyEntries/x"), JSONMember("note", "incident \u{1B}[2J 42"),
                    ]))
            await file.close()
            try await body(folder)
        }
    }

    private func run(_ arguments: [String], in folder: URL) async throws -> AssayProcess.Result {
        try await AssayProcess(arguments, folder: folder).result()
    }

    @Test("The list marks what would have refused, and what was not enforced; JSON has the members as they are")
    func marks() async throws {
        try await withFile { folder in
            let list = try await run(["decisions", "list", "--audit", "audit.jsonl"], in: folder)
            #expect(list.status == 0)
            let rows = list.lines.dropFirst().map { $0.split(separator: " ").map(String.init) }
            #expect(rows.map { $0[1] } == ["01M4", "01M3", "01M2", "01M1", "01M0"])
            #expect(rows[0][3] == "-")
            #expect(Array(rows[1][3...4]) == ["NOT_FOUND", "unenforced=rate_limited"])
            #expect(rows[2][3] == "would_refuse=debug:challenge_expired,other:unheard_of")
            #expect(rows[3][3] == "would_refuse=busy-device,debug:challenge_expired")
            #expect(rows[4][3] == "challenge_expired")
            let json = try await run(
                ["decisions", "list", "--audit", "audit.jsonl", "--rule", "busy-device", "--format", "json"], in: folder
            )
            let record = try JSON.parse(Array(try #require(json.lines.first).utf8))
            #expect(json.lines.count == 1)
            #expect(record["would_refuse"] == ["busy-device", "debug:challenge_expired"])
        }
    }

    @Test("Counts are also by what would have refused and by what was not enforced; a count's text finds its decisions")
    func stats() async throws {
        try await withFile { folder in
            for (field, lines) in [
                (
                    "would_refuse",
                    ["3  (none)", "2  debug:challenge_expired", "1  busy-device", "1  other:unheard_of"]
                ), ("unenforced_reason", ["4  (none)", "1  rate_limited"]),
                ("reason", ["3  (none)", "1  NOT_FOUND", "1  challenge_expired"]),
            ] {
                let stats = try await run(["decisions", "stats", "--by", field, "--audit", "audit.jsonl"], in: folder)
                #expect(stats.lines == lines, "\(field)")
            }
            for (filter, count) in [
                (["--rule", "debug:challenge_expired"], 2), (["--reason", "NOT_FOUND"], 1),
                (["--reason", "rate_limited"], 1),
            ] {
                let list = try await run(["decisions", "list", "--audit", "audit.jsonl"] + filter, in: folder)
                #expect(list.lines.count == count + 1, "\(filter)")
                #expect(list.errors.isEmpty)
            }
            let json = try await run(
                ["decisions", "stats", "--by", "would_refuse", "--audit", "audit.jsonl", "--format", "json"], in: folder
            )
            #expect(
                try JSON.parse(Array(json.output.utf8)).array?.contains(["would_refuse": "busy-device", "count": 1])
                    == true)
        }
    }

    @Test("A service is looked for and counted, with an index and without; what no record has is not silently empty")
    func services() async throws {
        try await withFile { folder in
            for options in [[], ["--no-index"]] {
                let list = try await run(
                    ["decisions", "list", "--service", "orders", "--audit", "audit.jsonl"] + options, in: folder)
                #expect(list.status == 0 && list.lines.count == 2, "\(list.errors)")
                #expect(list.lines.last?.contains("01M4") == true)
                let by = try await run(
                    ["decisions", "stats", "--by", "service", "--audit", "audit.jsonl"] + options, in: folder)
                #expect(by.lines == ["4  (none)", "1  orders"])
                let stats = try await run(
                    ["decisions", "stats", "--by", "outcome", "--service", "orders", "--audit", "audit.jsonl"]
                        + options,
                    in: folder)
                #expect(stats.lines == ["1  answered"])
            }
            for (arguments, words) in [
                (["list", "--service", "order"], "unknown service 'order'; did you mean `orders`?"),
                (["stats", "--by", "reason", "--service", "x"], "unknown service 'x'; the records have orders"),
            ] {
                let result = try await run(["decisions"] + arguments + ["--audit", "audit.jsonl"], in: folder)
                #expect(result.status == 1 && result.output.isEmpty)
                #expect(result.errors.contains("assay: warning: \(words)\n"), "\(result.errors)")
            }
            let known = try await run(
                ["decisions", "list", "--service", "orders", "--outcome", "issued", "--audit", "audit.jsonl"],
                in: folder)
            #expect(known.status == 1 && !known.errors.contains("unknown service"))
        }
    }

    @Test("show names what was tried: a rule, or a provider's settings with the reason and its meaning")
    func show() async throws {
        try await withFile { folder in
            let first = try await run(["decisions", "show", "01M1", "--audit", "audit.jsonl"], in: folder)
            #expect(first.output.contains("The rule 'busy-device' is in shadow, and would have refused it."))
            #expect(
                first.output.contains(
                    "The settings in `shadow` of the provider `debug` are in shadow, and would have refused it: challenge_expired."
                ))
            #expect(first.output.contains(KernelReasons.challengeExpired.summary))
            let second = try await run(["decisions", "show", "01M2", "--audit", "audit.jsonl"], in: folder)
            #expect(
                second.output.contains("of the provider `other` are in shadow, and would have refused it: unheard_of.")
            )
            #expect(!second.output.contains("The rule '"))
        }
    }

    @Test("What finds nothing says so on standard error, with what was searched, and ends with 1")
    func nothing() async throws {
        try await withFile { folder in
            let extent =
                "the file has 5 decisions, and records from 2026-11-21T12:00:00.000Z to 2026-11-21T12:05:00.000Z"
            for (arguments, words) in [
                (["decisions", "list", "--app", "1:1:ios:9"], "no decision matches"),
                (["decisions", "list", "--caller", "nobody", "--no-index"], "no decision matches"),
                (["decisions", "list", "--until", "2026-11-21"], "no decision matches"),
                (["decisions", "stats", "--by", "app", "--since", "2026-11-22"], "no decision matches"),
                (["decisions", "show", "01M9"], "no record of the decision 01M9"),
            ] {
                let result = try await run(arguments + ["--audit", "audit.jsonl"], in: folder)
                #expect(result.status == 1, "\(arguments)")
                #expect(result.errors.contains("assay: \(words): \(extent)\n"), "\(arguments)\n\(result.errors)")
            }
            try Data("\n".utf8).write(to: folder.appendingPathComponent("empty.jsonl"))
            let empty = try await run(["decisions", "list", "--audit", "empty.jsonl"], in: folder)
            #expect(empty.errors.contains("no decision matches: the file has no records"))
        }
    }

    @Test("A misspelled outcome is refused; a reason and a method that this program does not know are warned of")
    func misspelled() async throws {
        try await withFile { folder in
            for (arguments, status, words) in [
                (["--outcome", "refusd"], 2, "unknown (did you mean `refused`?); expected one of challenged, "),
                (
                    ["--outcome", "summed"], 2,
                    "unknown; expected one of challenged, issued, answered, refused, rejected, error"
                ),
                (
                    ["--reason", "challenge_expird"], 1,
                    "warning: unknown reason 'challenge_expird'; did you mean `challenge_expired`?"
                ),
                (
                    ["--reason", "not_of_this_world"], 1,
                    "warning: unknown reason 'not_of_this_world'; a plugin that is not in this program may have it"
                ),
                (
                    ["--method", "exchangeDebugTokn"], 1,
                    "warning: unknown method 'exchangeDebugTokn'; did you mean `exchangeDebugToken`?"
                ),
                (["--reason", "a\u{1B}[2J"], 1, "warning: unknown reason 'a?[2J'; a plugin"),
            ] as [([String], Int32, String)] {
                let result = try await run(["decisions", "list", "--audit", "audit.jsonl"] + arguments, in: folder)
                #expect(result.status == status, "\(arguments)")
                #expect(result.errors.contains(words), "\(arguments)\n\(result.errors)")
                #expect(result.output.isEmpty)
            }
            let by = try await run(["decisions", "stats", "--by", "reasons", "--audit", "audit.jsonl"], in: folder)
            #expect(by.status == 2)
            #expect(by.errors.contains("would_refuse"))
        }
    }

    @Test("events lists starts and changes with who asked for them, in one line each that no text can break")
    func events() async throws {
        try await withFile { folder in
            let all = try await run(["audit", "events", "audit.jsonl"], in: folder)
            #expect(all.status == 0)
            #expect(
                all.lines.map { String($0.split(separator: " ")[1]) } == [
                    "deny_added", "server_started", "audit_started",
                ])
            #expect(
                all.lines.first
                    == "2026-11-21T12:05:00.000Z  deny_added  by night  entry=projects/1/denyEntries/x  note=\"incident ?[2J 42\""
            )
            for (filter, count) in [
                (["--kind", "deny_added"], 1), (["--kind", "deny_added", "--kind", "server_started"], 2),
                (["--since", "2026-11-21T12:01:00Z"], 1), (["--until", "2026-11-21T12:01:00Z"], 2),
                (["--caller", "night"], 1), (["--limit", "1"], 1), (["--no-index"], 3),
            ] {
                let some = try await run(["audit", "events", "."] + filter, in: folder)
                #expect(some.lines.count == count, "\(filter)")
                #expect(some.status == 0)
            }
            let json = try await run(["audit", "events", ".", "--caller", "night", "--format", "json"], in: folder)
            #expect(try JSON.parse(Array(json.output.utf8))["event"] == "deny_added")
            let none = try await run(["audit", "events", ".", "--kind", "keys_changed"], in: folder)
            #expect(none.status == 1)
            #expect(none.errors.contains("no event matches: the file has 5 decisions"))
            for arguments in [
                ["audit", "events", "absent"], ["audit", "events", ".", "--kind", "deny"], ["audit", "events"],
            ] {
                #expect(try await run(arguments, in: folder).status == 2, "\(arguments)")
            }
        }
    }
}
