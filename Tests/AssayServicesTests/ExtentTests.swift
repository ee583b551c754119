import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import Foundation
import Testing

/// Records for look-ups by what is in shadow, by events, and for what is said when nothing is found.
@Suite("Look-ups of tried settings and of events", .timeLimit(.minutes(10)))
struct ExtentTests {
    private static let start = Instant(seconds: 1_795_262_400)

    private static func decided(
        _ number: Int, _ outcome: DecisionRecord.Outcome = .answered, unenforced: Reason? = nil,
        wouldRefuse: [ExactText] = []
    ) -> DecisionRecord {
        let time = start + .seconds(number)
        return DecisionRecord(
            decision: decision(number), time: time, duration: .milliseconds(1), method: "exchangeDebugToken",
            resource: "projects/1/apps/1:1:ios:a", provider: "debug", outcome: outcome, detail: nil, facts: [],
            peer: nil, unenforced: unenforced, rules: RuleFindings(wouldRefuse: wouldRefuse))
    }

    private static func event(_ number: Int, _ kind: AuditEvent.Kind, caller: String? = nil) -> AuditEvent {
        AuditEvent(time: start + .seconds(number), kind: kind, caller: caller, details: [JSONMember("n", "x")])
    }

    /// A file with decisions, two sums and five events, and its path.
    private func withFile(_ body: (String) async throws -> Void) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            let file = try AuditFile(path: path, logger: silent, clock: ManualClock(Self.start).hostClock)
            file.record(Self.event(0, .started))
            file.record(Self.decided(1, .refused(KernelReasons.rateLimited)))
            file.record(Self.decided(2, wouldRefuse: ["a", "app_attest:environment"]))
            file.record(Self.decided(3, wouldRefuse: ["app_attest:environment"]))
            file.record(Self.decided(4, .rejected(.notFound), unenforced: KernelReasons.challengeExpired))
            file.record(Self.event(5, .denyAdded, caller: "night"))
            file.record(Self.event(6, .denyRemoved, caller: "night"))
            file.record(Self.event(7, .denyAdded, caller: "day \"shift\""))
            file.record(
                DecisionSummary(
                    since: Self.start, until: Self.start + .seconds(8),
                    groups: [
                        .init(
                            method: "exchangeDebugToken", outcome: "refused", cause: "rate_limited", subject: nil,
                            count: 40)
                    ], others: 3))
            file.record(Self.event(9, .policiesChanged))
            await file.close()
            try await body(path)
        }
    }

    private static let indexings: [AuditLookup.Indexing] = [.kept, .kept, .read, .none]

    @Test(
        "What is in shadow is counted by its name, and what is not enforced by its reason, each with an index and without"
    )
    func counts() async throws {
        try await withFile { path in
            for indexing in Self.indexings {
                let lookup = try AuditLookup([path], indexing: indexing)
                let tried = try lookup.count(by: .wouldRefuse).counts.map { "\($0.count) \($0.text)" }
                #expect(tried == ["45 ", "2 app_attest:environment", "1 a"])
                let unenforced = try lookup.count(by: .unenforced).counts.map { "\($0.count) \($0.text)" }
                #expect(unenforced == ["46 ", "1 challenge_expired"])
                let part = try lookup.count(
                    by: .wouldRefuse, since: Self.start + .seconds(3), until: Self.start + .seconds(4))
                #expect(part.counts.map { "\($0.count) \($0.text)" } == ["1 app_attest:environment"])
            }
        }
    }

    @Test(
        "Names of what would have refused are found as rules, also one of a single letter, and statuses as reasons",
        arguments: [
            ("a", nil, 1), ("app_attest:environment", nil, 2), ("app_attest", nil, 0), ("environment", nil, 0),
            (",", nil, 0), ("[", nil, 0), (nil, "NOT_FOUND", 1), (nil, "rate_limited", 1),
            (nil, "challenge_expired", 1), (nil, "UNAVAILABLE", 0), ("a", "NOT_FOUND", 0),
        ] as [(String?, String?, Int)])
    func filters(_ rule: String?, _ reason: String?, _ count: Int) async throws {
        try await withFile { path in
            for indexing in Self.indexings {
                var query = DecisionQuery(limit: 50)
                (query.rule, query.reason) = (rule, reason)
                let found = try AuditLookup([path], indexing: indexing).list(query)
                #expect(found.lines.count == count)
            }
        }
    }

    @Test(
        "Events are found by kind, caller and time, the newest first, and no decision is among them",
        arguments: [
            ([], nil, nil, nil, [9, 7, 6, 5, 0, 0]), (["deny_added"], nil, nil, nil, [7, 5]),
            (["deny_added", "policies_changed"], nil, nil, nil, [9, 7, 5]), (["keys_changed"], nil, nil, nil, []),
            (["deny"], nil, nil, nil, []), ([], "night", nil, nil, [6, 5]), ([], "day \"shift\"", nil, nil, [7]),
            ([], nil, 6, nil, [9, 7, 6]), ([], nil, nil, 6, [5, 0, 0]), (["server_started"], nil, nil, nil, [0]),
            (["audit_started"], nil, nil, nil, [0]), ([], nil, 6, 6, []),
            (["deny_added"], "night", 1, 9, [5]),
        ] as [([ExactText], String?, Int?, Int?, [Int])])
    func events(
        _ kinds: [ExactText], _ caller: String?, _ since: Int?, _ until: Int?, _ expected: [Int]
    ) async throws {
        try await withFile { path in
            for indexing in Self.indexings {
                var query = EventQuery(limit: 50)
                (query.kinds, query.caller) = (kinds, caller)
                query.since = since.map { Self.start + .seconds($0) }
                query.until = until.map { Self.start + .seconds($0) }
                let found = try AuditLookup([path], indexing: indexing).events(query)
                let times = try found.lines.map { try JSON.parse($0)["time"]?.string ?? "" }
                #expect(times == expected.map { (Self.start + .seconds($0)).textWithMilliseconds })
            }
        }
    }

    @Test("A limit of events gives the newest ones, and says that there are more")
    func eventLimit() async throws {
        try await withFile { path in
            for (limit, count, hasMore) in [(1, 1, true), (5, 5, true), (6, 6, false), (7, 6, false), (0, 1, true)] {
                for indexing in Self.indexings {
                    let found = try AuditLookup([path], indexing: indexing).events(EventQuery(limit: limit))
                    #expect(found.lines.count == count)
                    #expect((found.next != nil) == hasMore)
                }
            }
        }
    }

    @Test(
        "What was searched is the same with an index and without: decisions, those in sums too, and the times of all records"
    )
    func extent() async throws {
        try await withFile { path in
            for indexing in Self.indexings {
                let lookup = try AuditLookup([path], indexing: indexing)
                var query = DecisionQuery()
                query.app = "another"
                for extent in [
                    try lookup.list(query).extent, try lookup.events(EventQuery()).extent,
                    try lookup.count(by: .app, since: Self.start + .seconds(100)).extent, try lookup.find("x").extent,
                ] {
                    #expect(extent.files == 1)
                    #expect(extent.decisions == 47)
                    #expect(!extent.isLeast)
                    #expect(extent.span?.first == Self.start)
                    #expect(extent.span?.last == Self.start + .seconds(9))
                    #expect(
                        extent.words
                            == "the file has 47 decisions, and records from 2026-11-21T12:00:00.000Z to 2026-11-21T12:00:09.000Z"
                    )
                }
            }
        }
    }

    @Test("Files without records are said to have none, and several files are counted")
    func emptyExtent() async throws {
        try await withFolder { folder in
            try save(["no JSON", "{}", "{\"time\":\"x\",\"decision\":\"a\"}"], to: "\(folder)/noise")
            for indexing in Self.indexings {
                let extent = try AuditLookup(["\(folder)/noise"], indexing: indexing).list(DecisionQuery()).extent
                #expect(extent.words == "the file has no records")
            }
            try await write(0..<2, to: "\(folder)/a.jsonl")
            try await write(2..<3, to: "\(folder)/b.jsonl")
            let extent = try AuditLookup(["\(folder)/a.jsonl", "\(folder)/b.jsonl"]).list(DecisionQuery()).extent
            #expect(extent.words.hasPrefix("the 2 files have 3 decisions, and records from "))
        }
    }

    @Test(
        "An hour with more different decisions than an index counts is counted from its lines, and said to have at least so many"
    )
    func manyKeys() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            let file = try AuditFile(path: path, logger: silent, options: AuditFile.Options(queueLimit: 10_000))
            for number in 0..<2500 { file.record(Self.decided(number, wouldRefuse: [ExactText("rule\(number)")])) }
            await file.close()
            let lookup = try AuditLookup([path])
            let found = try lookup.count(by: .wouldRefuse)
            #expect(found.counts.count == 2500)
            #expect(found.counts.allSatisfy { $0.count == 1 })
            #expect(found.extent.isLeast)
            #expect(found.extent.words.contains("the file has at least "))
            let scanned = try AuditLookup([path], indexing: .none).count(by: .wouldRefuse)
            #expect(scanned.extent.decisions == 2500)
        }
    }

    @Test(
        "Hostile lists of tried rules neither end a look-up nor find anything else",
        arguments: [
            "[]", "[\"", "[\"a", "[\"\\\\\",\"a\"]", "[\"\\\"a\\\"\"]", "[[\"a\"]]", "[1,null,\"a\"]", "\"a\"",
            "{\"a\":\"b\"}",
            "[\"\\", "[\"a\",\"a\",\"a\"]",
        ])
    func hostileLists(_ list: String) async throws {
        try await withFolder { folder in
            let good =
                "{\"time\":\"2026-11-21T12:00:00.000Z\",\"decision\":\"good\",\"outcome\":\"issued\",\"would_refuse\":[\"b\"]}"
            let line =
                "{\"time\":\"2026-11-21T12:00:00.000Z\",\"decision\":\"x\",\"outcome\":\"issued\",\"would_refuse\":\(list)}"
            try save([line, good], to: "\(folder)/a.jsonl")
            var results: [[String]] = []
            for indexing in Self.indexings {
                let lookup = try AuditLookup(["\(folder)/a.jsonl"], indexing: indexing)
                var query = DecisionQuery()
                query.rule = "b"
                #expect(try lookup.list(query).lines.contains(Array(good.utf8)))
                results.append(try lookup.count(by: .wouldRefuse).counts.map { "\($0.count) \($0.text)" })
            }
            #expect(Set(results.map { $0.joined(separator: "|") }).count == 1)
        }
    }

    @Test("The outcomes that queries may have are those that records have")
    func outcomes() async throws {
        try await withFolder { folder in
            let outcomes: [DecisionRecord.Outcome] = [
                .challenged, .issued(tokenID: "t", limitedUse: false, expires: Self.start), .answered,
                .refused(KernelReasons.rateLimited), .rejected(.notFound), .failed(.unavailable),
            ]
            let file = try AuditFile(path: "\(folder)/a.jsonl", logger: silent)
            for (number, outcome) in outcomes.enumerated() { file.record(Self.decided(number, outcome)) }
            await file.close()
            let found = try AuditLookup(["\(folder)/a.jsonl"]).list(DecisionQuery(limit: 50)).lines
            let names = try found.reversed().map { try JSON.parse($0)["outcome"]?.string ?? "" }
            #expect(names == RecordNames.outcomes)
        }
    }
}
