import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import Foundation
import Testing

@Suite("Look-ups in audit files", .timeLimit(.minutes(10)))
struct LookupTests {
    /// Records of random decisions, in rotated files of which some are compressed.
    private static func makeFiles(in folder: String, _ count: Int, seed: UInt64) async throws -> String {
        let path = "\(folder)/audit.jsonl"
        var random = Seeded(state: seed)
        let file = try AuditFile(
            path: path, logger: silent,
            options: AuditFile.Options(queueLimit: 2 * count, rotation: AuditRotation(size: 300_000)))
        for number in 0..<count {
            let outcome: DecisionRecord.Outcome? =
                switch random.next(4) {
                case 0: .refused(KernelReasons.all[random.next(3)])
                case 1: .failed(.unavailable)
                default: nil
                }
            file.record(
                record(
                    number, app: "1:1:ios:\(random.next(5))", outcome: outcome,
                    method: ["exchangeDebugToken", "verifyAppCheckToken"][random.next(2)],
                    caller: random.next(3) == 0 ? "backend\(random.next(4))" : nil, keyID: "key\(random.next(500))/+=",
                    rule: random.next(10) == 0 ? "rule\(random.next(3))" : nil))
            if number % 500 == 7 {
                let time = Instant(seconds: 1_795_262_400) + .seconds(number)
                file.record(
                    DecisionSummary(
                        since: time - .seconds(60), until: time,
                        groups: [
                            DecisionSummary.Group(
                                method: "exchangeDebugToken", outcome: "refused", cause: "rate_limited",
                                subject: "projects/1/apps/1:1:ios:0", count: 40)
                        ], others: 3))
            }
        }
        await file.close()
        for (index, rotated) in RotatedFile.all(of: path).enumerated() where index % 2 == 0 {
            try GZipBlocks.compress(rotated.path, to: "\(rotated.plainPath).gz")
            try FileManager.default.removeItem(atPath: rotated.path)
        }
        return path
    }

    private static func queries(_ random: inout Seeded) -> DecisionQuery {
        var query = DecisionQuery(limit: [1, 3, 50, 10_000][random.next(4)])
        if random.next(3) == 0 { query.app = "1:1:ios:\(random.next(6))" }
        if random.next(3) == 0 { query.reason = KernelReasons.all[random.next(4)].code }
        if random.next(3) == 0 { query.since = Instant(seconds: 1_795_262_400 + Int64(random.next(4000))) }
        if random.next(3) == 0 { query.until = Instant(seconds: 1_795_262_400 + Int64(random.next(4000))) }
        if random.next(4) == 0 { query.keyID = "key\(random.next(510))/+=" }
        if random.next(4) == 0 { query.caller = "backend\(random.next(5))" }
        if random.next(4) == 0 { query.method = ["exchangeDebugToken", "verifyAppCheckToken"][random.next(2)] }
        if random.next(4) == 0 { query.outcome = ["issued", "refused", "error", "summed"][random.next(4)] }
        if random.next(5) == 0 { query.rule = "rule\(random.next(4))" }
        return query
    }

    @Test(
        "An index finds what reading all lines finds, for any query, and counts the same",
        arguments: [1, 2] as [UInt64])
    func random(_ seed: UInt64) async throws {
        try await withFolder { folder in
            let path = try await Self.makeFiles(in: folder, 4000, seed: seed)
            let indexed = try AuditLookup([path], indexing: .kept)
            let scanned = try AuditLookup([path], indexing: .none)
            var random = Seeded(state: seed &+ 100)
            for _ in 0..<30 {
                let query = Self.queries(&random)
                let expected = try scanned.list(query)
                let found = try indexed.list(query)
                #expect(found.lines == expected.lines, "\(query)")
                #expect(found.next == expected.next)
                #expect(expected.notes.contains { $0.hasPrefix("read without an index") })
            }
            for field in CountedField.allCases {
                for (since, until) in [(nil, nil), (0, nil), (1000, 3500), (3599, 3601), (nil, 5)] as [(Int64?, Int64?)]
                {
                    let start = Int64(1_795_262_400)
                    let since = since.map { Instant(seconds: start + $0) }
                    let until = until.map { Instant(seconds: start + $0) }
                    let expected = try scanned.count(by: field, since: since, until: until).counts
                    let found = try indexed.count(by: field, since: since, until: until).counts
                    #expect(found.map { "\($0.text) \($0.count)" } == expected.map { "\($0.text) \($0.count)" })
                }
            }
            let outcomes = try indexed.count(by: .outcome).counts
            #expect(outcomes.reduce(0) { $0 + $1.count } == 4000 + 8 * 43)
        }
    }

    @Test("Each decision is found by its identifier, wherever it is, and no other one")
    func find() async throws {
        try await withFolder { folder in
            let path = try await Self.makeFiles(in: folder, 3000, seed: 3)
            let lookup = try AuditLookup([path])
            for number in [0, 1, 777, 1500, 2998, 2999] {
                let line = try #require(try lookup.find(decision(number).text).lines.first)
                #expect(try JSON.parse(line)["decision"] == .string(decision(number).text))
            }
            for unknown in [decision(3000).text, "", "x", "\"", String(repeating: "A", count: 10_000), "\u{0}"] {
                #expect(try lookup.find(unknown).lines.isEmpty)
            }
        }
    }

    @Test("Pages of any size together have each record once, in order")
    func pages() async throws {
        try await withFolder { folder in
            let path = try await Self.makeFiles(in: folder, 1000, seed: 4)
            let lookup = try AuditLookup([path])
            let all = try lookup.list(DecisionQuery(limit: 5000)).lines
            #expect(all.count == 1000)
            for size in [1, 7, 999, 1000, 1001] where size > 1 || all.count < 2000 {
                var query = DecisionQuery(limit: size)
                var seen: [[UInt8]] = []
                repeat {
                    let page = try lookup.list(query)
                    seen += page.lines
                    query.pageToken = page.next
                } while query.pageToken != nil && (size > 1 || seen.count < 100)
                #expect(seen == Array(all.prefix(seen.count)))
                #expect(size == 1 || seen.count == 1000)
            }
        }
    }

    @Test("With a budget of little, pages are short, and together still have each record once")
    func budget() async throws {
        try await withFolder { folder in
            let path = try await Self.makeFiles(in: folder, 3000, seed: 5)
            let all = try AuditLookup([path]).list(DecisionQuery(limit: 5000)).lines
            var budget = AuditLookup.Budget()
            budget.bytes = 200_000
            let lookup = try AuditLookup([path], indexing: .read, budget: budget)
            var query = DecisionQuery(limit: 5000)
            var seen: [[UInt8]] = []
            var pages = 0
            repeat {
                let page = try lookup.list(query)
                seen += page.lines
                query.pageToken = page.next
                pages += 1
            } while query.pageToken != nil && pages < 100
            #expect(pages > 3)
            #expect(seen == all)
        }
    }

    @Test(
        "A wrong or damaged index is never trusted",
        arguments: [
            "cut", "flipped", "empty", "garbage", "of another file", "file rewritten", "middle changed",
            "file truncated",
        ])
    func index(_ damage: String) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<2000, to: path)
            _ = try AuditIndexing.index([path])
            let index = URL(fileURLWithPath: "\(path).idx")
            let bytes = try Data(contentsOf: index)
            #expect(bytes.count > 1000)
            let file = URL(fileURLWithPath: path)
            var wanted = decision(1000).text
            switch damage {
            case "cut": try bytes.dropLast(100).write(to: index)
            case "flipped":
                var changed = bytes
                changed[bytes.count / 2] ^= 1
                try changed.write(to: index)
            case "empty": try Data().write(to: index)
            case "garbage": try Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7) }).write(to: index)
            case "of another file":
                try await write(5000..<7000, to: "\(folder)/other")
                _ = try AuditIndexing.index(["\(folder)/other"])
                try Data(contentsOf: URL(fileURLWithPath: "\(folder)/other.idx")).write(to: index)
            case "file rewritten":
                try await write(5000..<7000, to: "\(folder)/other")
                try Data(contentsOf: URL(fileURLWithPath: "\(folder)/other")).write(to: file)
                wanted = decision(6000).text
            case "middle changed":
                // In place, so that neither the size nor the ends of the file change; and a line is added.
                var changed = try Data(contentsOf: file)
                let place = try #require(changed.range(of: Data(decision(1000).text.utf8)))
                changed.replaceSubrange(place, with: Data("00000000000000000000000000".utf8))
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.write(contentsOf: changed)
                try handle.close()
                try await write(2000..<2001, to: path)
                wanted = "00000000000000000000000000"
            default:
                let data = try Data(contentsOf: file)
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.truncate(atOffset: UInt64(data.count * 3 / 4))
                try handle.close()
            }
            let lookup = try AuditLookup([path])
            let first = try lookup.find(wanted).lines
            // The filter of an index whose blocks were changed in the middle does not know the new text.
            if damage != "middle changed" { #expect(first.count == 1) }
            #expect(
                try lookup.find(decision(1000).text).lines.count
                    == (["file rewritten", "middle changed"].contains(damage) ? 0 : 1))
            #expect(try AuditLookup([path]).find(wanted).lines.count == 1)
        }
    }

    @Test("An index grows with its file, also under its rotated name, and none is needed")
    func growing() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            for round in 0..<5 {
                try await write(round * 700..<(round + 1) * 700, to: path)
                #expect(try AuditLookup([path]).find(decision(round * 700 + 650).text).lines.count == 1)
                #expect(try AuditLookup([path]).find(decision(round * 350).text).lines.count == 1)
            }
            try FileManager.default.removeItem(atPath: "\(path).idx")
            try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder) }
            #expect(try AuditLookup([path]).find(decision(3).text).lines.count == 1)
        }
    }

    @Test("Hostile files give notes, and what else there is is found")
    func hostile() async throws {
        try await withFolder { folder in
            try await write(0..<500, to: "\(folder)/good")
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/good"))
            try GZipBlocks.compress("\(folder)/good", to: "\(folder)/whole.gz")
            let gzip = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/whole.gz"))
            try FileManager.default.removeItem(atPath: "\(folder)/whole.gz")
            try gzip.dropLast(500).write(to: URL(fileURLWithPath: "\(folder)/cut.gz"))
            try Data(repeating: 0, count: 5 << 20).write(to: URL(fileURLWithPath: "\(folder)/zeros"))
            try Data(repeating: 0x0A, count: 300_000).write(to: URL(fileURLWithPath: "\(folder)/lines"))
            try Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(
                to: URL(fileURLWithPath: "\(folder)/noise"))
            try (Data("{\"time\":\"2026-13-41T99:99:99.000Z\",\"decision\":\"a\"}\n{\"time\":\"".utf8) + data)
                .write(to: URL(fileURLWithPath: "\(folder)/mixed"))
            for indexing in [AuditLookup.Indexing.kept, .kept, .read, .none] {
                let found = try AuditLookup([folder], indexing: indexing).list(DecisionQuery(limit: 5000))
                #expect(found.lines.count >= 999)
                #expect(found.notes.contains { $0.contains("cut.gz") })
            }
        }
    }

    @Test("The archive of a server answers within its limits, and sees only the project's decisions")
    func archive() async throws {
        try await withFolder { folder in
            let path = try await Self.makeFiles(in: folder, 2000, seed: 6)
            let archive = AuditArchive([path])
            #expect(try await archive.decision(decision(5), of: ["1"])?.record["decision"] == .string(decision(5).text))
            #expect(try await archive.decision(decision(5), of: ["other", "1"]) != nil)
            for other in ["2", "11", ""] as [ExactText] {
                #expect(try await archive.decision(decision(5), of: [other]) == nil)
            }
            var query = DecisionQuery(limit: 10)
            query.projects = ["1"]
            #expect(try await archive.decisions(query).decisions.count == 10)
            query.pageToken = "nonsense"
            let error = await #expect(throws: DecisionArchiveError.self) { try await archive.decisions(query) }
            #expect(error?.kind == .invalidQuery)

            var limits = AuditArchive.Limits()
            limits.unindexedBytes = 1000
            let small = AuditArchive([path], limits: limits)
            let notReady = await #expect(throws: DecisionArchiveError.self) {
                try await small.decision(decision(5), of: ["1"])
            }
            #expect(notReady?.kind == .unavailable)
        }
    }
}

/// A generator whose numbers a test repeats.
struct Seeded {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
