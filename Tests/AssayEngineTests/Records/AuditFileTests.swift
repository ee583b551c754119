import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import AssayTestSupport
import Foundation
import Synchronization
import Testing
@testable import AssayServices

@Suite("The audit file", .timeLimit(.minutes(20)))
struct AuditFileTests {
    private static func record(
        _ outcome: DecisionRecord.Outcome, number: Int = 1, resource: String = "projects/1/apps/2",
        provider: String? = "debug", detail: String? = nil, facts: [Fact] = [], peer: String? = "192.0.2.1"
    ) -> DecisionRecord {
        DecisionRecord(
            decision: DecisionID(text: "01M\(number)"), time: Instant(milliseconds: 1_795_262_400_000),
            duration: .microseconds(1_234), method: "exchangeDebugToken", resource: resource, provider: provider,
            outcome: outcome, detail: detail, facts: facts, peer: peer)
    }

    private static let common: [(String, JSON)] = [
        ("time", "2026-11-21T12:00:00.000Z"), ("decision", "01M1"), ("method", "exchangeDebugToken"),
        ("resource", "projects/1/apps/2"),
    ]

    @Test(
        "Each outcome has its fields, in this order and under these names",
        arguments: [
            (DecisionRecord.Outcome.challenged, [("outcome", "challenged"), ("duration_ms", .number(1.234))]),
            (
                .issued(tokenID: "jti", limitedUse: true, expires: Instant(milliseconds: 1_795_262_700_500)),
                [
                    ("outcome", "issued"), ("duration_ms", .number(1.234)), ("provider", "debug"), ("jti", "jti"),
                    ("expires", "2026-11-21T12:05:00.500Z"), ("limited_use", true),
                ]
            ),
            (
                .refused(KernelReasons.challengeExpired),
                [
                    ("outcome", "refused"), ("duration_ms", .number(1.234)), ("provider", "debug"),
                    ("reason", "challenge_expired"),
                ]
            ),
            (
                .rejected(.notFound),
                [("outcome", "rejected"), ("duration_ms", .number(1.234)), ("status", "NOT_FOUND")]
            ),
            (
                .failed(.unavailable),
                [
                    ("outcome", "error"), ("duration_ms", .number(1.234)), ("provider", "debug"),
                    ("status", "UNAVAILABLE"),
                ]
            ),
        ] as [(DecisionRecord.Outcome, [(String, JSON)])])
    func outcomes(_ outcome: DecisionRecord.Outcome, _ fields: [(String, JSON)]) async throws {
        let hasProvider = fields.contains { $0.0 == "provider" }
        let lines = try await lines { $0.record(Self.record(outcome, provider: hasProvider ? "debug" : nil)) }
        let members = (Self.common + fields + [("peer", "192.0.2.1")]).map { JSONMember($0.0, $0.1) }
        #expect(lines == [.object(members)])
    }

    @Test("Of more facts than 64, the first 64 are written")
    func manyFacts() async throws {
        for count in [63, 64, 65, 1000] {
            let facts = (0..<count).map { Fact(FactName("fact\($0)"), .integer(Int64($0))) }
            let line = try #require(try await lines { $0.record(Self.record(.challenged, facts: facts)) }.first)
            let members = try #require(line["facts"]?.members)
            #expect(members.map(\.name) == (0..<min(count, 64)).map { "fact\($0)" })
        }
    }

    @Test(
        "The use of a token has its app, service, level and what was waived under their names, as far as they are known"
    )
    func tokenUse() async throws {
        let uses: [(TokenUse, JSON, Reason?)] = [
            (
                TokenUse(
                    project: "1", service: "orders.example.com", app: "1:1:ios:ab", category: .reused,
                    enforcement: .unenforced, isAdmitted: true),
                [
                    "category": "reused", "admitted": true, "service": "orders.example.com", "app": "1:1:ios:ab",
                    "enforcement": "UNENFORCED",
                ], KernelReasons.tokenReused
            ),
            (
                TokenUse(
                    project: "1", service: nil, app: nil, category: .unknownOrigin, enforcement: nil,
                    isAdmitted: false), ["category": "unknown_origin", "admitted": false], nil
            ),
        ]
        for (use, expected, unenforced) in uses {
            let record = DecisionRecord(
                decision: DecisionID(text: "01M1"), time: Instant(seconds: 0), duration: .zero, method: "protect",
                resource: "projects/1", provider: nil, outcome: .answered, detail: nil, facts: [], peer: nil,
                tokenUse: use, unenforced: unenforced)
            let line = try #require(try await lines { $0.record(record) }.first)
            #expect(line["token_use"] == expected)
            #expect(line["unenforced_reason"]?.string == unenforced?.code)
        }
    }

    @Test("Facts keep their types, and detail and facts are one line of short ASCII whatever they say")
    func facts() async throws {
        let token = "eyJhbGciOiJSUzI1NiJ9." + String(repeating: "e30", count: 200) + ".c2ln"
        let facts = [
            Fact("text", .text("a\nb\u{202E}\"" + token)), Fact("number", .integer(-7)), Fact("truth", .bool(false)),
            Fact("time", .instant(Instant(seconds: 0))),
        ]
        let lines = try await lines {
            $0.record(Self.record(.challenged, resource: "x\r\n{\"a\":1}", detail: token, facts: facts, peer: nil))
        }
        let line = try #require(lines.first)
        #expect(lines.count == 1)
        #expect(line["facts"]?["number"] == -7)
        #expect(line["facts"]?["truth"] == false)
        #expect(line["facts"]?["time"] == "1970-01-01T00:00:00.000Z")
        #expect(line["facts"]?["text"]?.string?.hasPrefix("a\nb\u{202E}\"eyJ") == true)
        #expect(line["resource"] == "x??{\"a\":1}")
        #expect(line["peer"] == nil)
        let text = String(decoding: line.encoded, as: UTF8.self)
        #expect(!text.contains(token))
        #expect(text.utf8.count < 1000)
    }

    @Test("A line is printable ASCII whatever its details are, and its text is kept")
    func ascii() async throws {
        let texts = [
            "\u{202E}gpj.exe", "\u{9B}31m", "\u{7F}\u{85}\u{2028}\u{FEFF}", "\u{1F600}", "\u{1B}[2J\u{0}", "plain",
        ]
        let details = texts.map { JSONMember("n\($0)", .array([.string($0), .object(["\($0)": .string($0)])])) }
        let event = AuditEvent(
            time: Instant(seconds: 1), kind: .denyAdded, caller: texts[0], revision: nil, details: details)
        try await withFolder { folder in
            let path = folder.appendingPathComponent("audit.jsonl").path
            let file = try AuditFile(path: path, logger: TestService.silent)
            file.record(event)
            #expect(file.blockingReason == nil)
            await file.close()
            #expect(file.blockingReason == "the audit file is closed")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(bytes.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x0A })
            #expect(try Self.read(path).first?["details"] == .object(details))
        }
    }

    @Test("A sum is one line, of bounded length, with how many decisions it stands for")
    func summary() async throws {
        let groups = (0..<64).map { number in
            DecisionSummary.Group(
                method: ExactText("m\(number)" + String(repeating: "x", count: 1000)), outcome: "refused",
                cause: number == 0 ? nil : "debug_token_unknown", subject: number == 0 ? nil : "projects/1/apps/2",
                count: number + 1)
        }
        let since = Instant(milliseconds: 1_795_262_400_000)
        let lines = try await lines { file in
            file.record(DecisionSummary(since: since, until: since + .seconds(60), groups: groups, others: 7))
        }
        let line = try #require(lines.first)
        #expect(lines.count == 1)
        #expect(line["outcome"] == "summed")
        #expect(line["since"] == "2026-11-21T12:00:00.000Z")
        #expect(line["time"] == "2026-11-21T12:01:00.000Z")
        #expect(line["count"] == .integer(64 * 65 / 2 + 7))
        #expect(line["others"] == 7)
        #expect(line["groups"]?.array?.count == 64)
        #expect(line["groups"]?.array?.last?["cause"] == "debug_token_unknown")
        #expect(line["groups"]?.array?.last?["subject"] == "projects/1/apps/2")
        #expect(line.encoded.count < 20_000)
    }

    @Test("Of a file that is renamed the lines continue in a new one, and none is lost")
    func rotation() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("audit.jsonl").path
            let file = try AuditFile(path: path, logger: TestService.silent)
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        for number in 0..<500 { file.record(Self.record(.challenged, number: task * 1000 + number)) }
                    }
                }
                group.addTask {
                    for round in 0..<5 {
                        try? FileManager.default.moveItem(atPath: path, toPath: "\(path).\(round)")
                        #expect(throws: Never.self) { try file.reopen() }
                    }
                }
            }
            await file.close()
            var decisions: Set<String> = []
            var files = 0
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                files += 1
                for line in try Self.read("\(folder.path)/\(name)") {
                    #expect(decisions.insert(try #require(line["decision"]?.string)).inserted)
                }
            }
            #expect(files == 6)
            #expect(decisions.count == 2000)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
        }
    }

    @Test("Of a file that is removed the lines continue in a new one, and the log says so once")
    func removed() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("audit.jsonl").path
            let log = RecordingLog()
            let numbers = Numbers()
            let file = try AuditFile(path: path, logger: log.logger, meter: numbers.meter)
            file.record(Self.record(.challenged, number: 0))
            try await eventually { numbers["audit_records_written_total"] == 1 }
            try FileManager.default.removeItem(atPath: path)
            for number in 1..<20 { file.record(Self.record(.challenged, number: number)) }
            // The removal is on record too.
            try await eventually { numbers["audit_records_written_total"] == 21 }
            #expect(try Self.read(path).map { $0["decision"] } == (1..<20).map { .string("01M\($0)") })
            let line = "the audit file was removed, with the records in it; new records go to a new file file=\(path)"
            #expect(log.lines == [line])
            #expect(numbers["audit_sequence"] == 22)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            await file.close()
        }
    }

    @Test("Where no new file can be made for one that was removed, records wait until it can")
    func removedFolder() async throws {
        try await withFolder { folder in
            let inner = folder.appendingPathComponent("inner")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
            let path = inner.appendingPathComponent("audit.jsonl").path
            let file = try AuditFile(
                path: path, logger: TestService.silent, options: AuditFile.Options(retryDelay: .milliseconds(5)))
            try FileManager.default.removeItem(at: inner)
            for number in 0..<5 { file.record(Self.record(.challenged, number: number)) }
            try await eventually { file.blockingReason == "audit records cannot be written" }
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
            try await eventually { file.blockingReason == nil }
            await file.close()
            #expect(try Self.read(path).map { $0["decision"] } == (0..<5).map { .string("01M\($0)") })
        }
    }

    @Test("That a file and its folder were removed is known without a record, and so is that they are back")
    func removedWithoutRecords() async throws {
        try await withFolder { folder in
            let inner = folder.appendingPathComponent("inner")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
            let path = inner.appendingPathComponent("audit.jsonl").path
            let (log, numbers) = (RecordingLog(), Numbers())
            let file = try AuditFile(
                path: path, logger: log.logger, meter: numbers.meter,
                options: AuditFile.Options(retryDelay: .milliseconds(5)))
            #expect(file.readiness == .ready)
            try FileManager.default.removeItem(at: inner)
            try await eventually { file.readiness == .degraded("audit records cannot be written") }
            #expect(numbers["audit_writable"] == 0)
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
            try await eventually { file.readiness == .ready }
            #expect(numbers["audit_writable"] == 1)
            #expect(FileManager.default.fileExists(atPath: path))
            file.record(Self.record(.challenged, number: 1))
            await file.close()
            #expect(try Self.read(path).map { $0["decision"] } == ["01M1"])
            #expect(log.lines.count { $0.hasPrefix("audit records cannot be written and wait") } == 1)

            // Nobody looks after a closed file.
            try FileManager.default.removeItem(at: inner)
            try await Task.sleep(for: .milliseconds(50))
            #expect(file.readiness == .degraded("the audit file is closed"))
        }
    }

    @Test("A file that was renamed is written to until it is opened anew")
    func renamed() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("audit.jsonl").path
            let file = try AuditFile(path: path, logger: TestService.silent)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            file.record(Self.record(.challenged, number: 1))
            await file.close()
            #expect(try Self.read(path + ".1").count == 1)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("What is there already stays in front, and a path that cannot be opened is an error that names it")
    func opening() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("audit.jsonl").path
            try Data("{\"old\":true}\n".utf8).write(to: URL(fileURLWithPath: path))
            let file = try AuditFile(path: path, logger: TestService.silent)
            file.record(Self.record(.challenged))
            await file.close()
            #expect(try Self.read(path).first == ["old": true])
            #expect(try Self.read(path).count == 2)
            let error = #expect(throws: AuditError.self) {
                try AuditFile(path: "/proc/no/such/file", logger: TestService.silent)
            }
            #expect(error?.message == "cannot open the audit file /proc/no/such/file: No such file or directory")
        }
    }

    #if os(Linux)
    @Test("While the disk is full records wait, and are written when it no longer is")
    func fullAndRepaired() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("audit.jsonl").path
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
            let numbers = Numbers()
            let file = try AuditFile(path: path, logger: TestService.silent, meter: numbers.meter)
            for number in 0..<10 { file.record(Self.record(.challenged, number: number)) }
            try await eventually { file.blockingReason == "audit records cannot be written" }
            #expect(file.readiness == .degraded("audit records cannot be written"))
            #expect(numbers["audit_writable"] == 0)

            try FileManager.default.removeItem(atPath: path)
            try file.reopen()
            try await eventually { file.blockingReason == nil }
            #expect(file.readiness == .ready)
            await file.close()
            #expect(try Self.read(path).map { $0["decision"] } == (0..<10).map { .string("01M\($0)") })
            #expect(numbers["audit_writable"] == 1)
            #expect(numbers["audit_records_written_total"] == 10)
            #expect(numbers["audit_records_lost_total"] == 0)
        }
    }

    @Test("What does not fit into the queue is counted, and so is what cannot be written at the end")
    func lost() async throws {
        let numbers = Numbers()
        let file = try AuditFile(
            path: "/dev/full", logger: TestService.silent, meter: numbers.meter,
            options: AuditFile.Options(queueLimit: 5))
        for number in 0..<8 { file.record(Self.record(.challenged, number: number)) }
        #expect(numbers["audit_records_lost_total"] == 3)
        #expect(file.readiness != .ready)
        await file.close()
        #expect(numbers["audit_records_lost_total"] == 8)
        #expect(numbers["audit_records_written_total"] == 0)
    }

    @Test(
        "A line of which only a part fits on the disk is completed when there is room",
        .enabled(if: SmallDisk.isPossible, "mounting a file system needs root"))
    func torn() async throws {
        try await SmallDisk.with(kibibytes: 8) { folder in
            let path = "\(folder)/audit.jsonl"
            let file = try AuditFile(path: path, logger: TestService.silent)
            for number in 100..<200 { file.record(Self.record(.challenged, number: number)) }
            try await eventually { file.blockingReason != nil }
            let first = try Data(contentsOf: URL(fileURLWithPath: path))
            try #require(first.last != UInt8(ascii: "\n"), "the disk ends within a line")
            try #require(SmallDisk.resize(folder, kibibytes: 4096))
            try await eventually { file.blockingReason == nil }
            await file.close()
            let lines = try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: UInt8(ascii: "\n"))
            #expect(
                try lines.compactMap { try JSON.parse(Array($0))["decision"]?.string } == (100..<200).map { "01M\($0)" }
            )
        }
    }
    #endif

    @Test(
        "An engine that must not decide without a record answers that it is unavailable, and says so in its readiness")
    func required() async throws {
        let words = Mutex<String?>(nil)
        let service = try TestService(options: Engine.Options(blockingReason: { words.withLock { $0 } }))
        #expect(await service.engine.readiness == .ready)
        #expect(try await !service.challenge().isEmpty)
        words.withLock { $0 = "audit records cannot be written" }
        #expect(await service.engine.readiness == .notReady("audit records cannot be written"))
        let reply = await service.call(
            "exchangeDebugToken", TestService.app, ["debugToken": .string(TestService.debugToken)])
        #expect(reply.status == .unavailable)
        let record = try #require(service.sink.record(of: reply.decision))
        #expect(record.detail == "audit records cannot be written")
        guard case .failed(.unavailable) = record.outcome else {
            Issue.record("\(record.outcome)")
            return
        }
        // Not even what needs no decision: each answer would be on record.
        #expect(await service.call("exchangeDebugToken", "projects/a/apps/b").status == .unavailable)
        #expect(try await service.call("jwks", "").result.get()["keys"]?.array?.isEmpty == false)
        words.withLock { $0 = nil }
        #expect(
            await service.call("exchangeDebugToken", TestService.app, ["debugToken": .string(TestService.debugToken)])
                .status == nil)
    }

    // MARK: -

    /// The lines that a new file has in the end.
    private func lines(_ body: (AuditFile) -> Void) async throws -> [JSON] {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("audit.jsonl").path
            let file = try AuditFile(path: path, logger: TestService.silent)
            body(file)
            await file.close()
            return try Self.read(path)
        }
    }

    private static func read(_ path: String) throws -> [JSON] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(data.isEmpty || data.last == UInt8(ascii: "\n"))
        return try data.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let json = try JSON.parse(Array(line))
            if json["event"]?.string?.hasPrefix("audit_") ?? false { return nil }
            // Each line has its place in the chain, which AssayServicesTests check.
            let members = try #require(json.members)
            guard members.suffix(2).map(\.name) == ["seq", "chain"] else { return json }
            return .object(members.dropLast(2))
        }
    }

    private func eventually(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }
}

private func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-audit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// What a meter was told, without labels.
private final class Numbers: Sendable {
    private let values = Mutex<[String: Double]>([:])

    subscript(_ name: String) -> Double? { values.withLock { $0[name] } }

    var meter: Meter {
        Meter { _, metric, change, _ in
            self.values.withLock { values in
                switch change {
                case .add(let amount): values[metric.name, default: 0] += amount
                case .set(let value), .observe(let value): values[metric.name] = value
                }
            }
        }
    }
}
