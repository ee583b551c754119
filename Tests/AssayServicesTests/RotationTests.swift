import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import AssayTestSupport
import Foundation
import Logging
import Synchronization
import Testing

@Suite("The rotation of audit files", .timeLimit(.minutes(5)))
struct RotationTests {
    private static let bySize = AuditRotation(size: 4096)

    private static func decisions(_ files: [String]) throws -> [String] {
        try files.flatMap { try lines($0) }.compactMap { try JSON.parse(Array($0.utf8))["decision"]?.string }
    }

    @Test("A file that would become too large is renamed, no record is lost, and the chain continues")
    func size() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            let clock = ManualClock()
            try await write(0..<200, to: path, rotation: Self.bySize, clock: clock.hostClock)
            let rotated = RotatedFile.all(of: path).map(\.path)
            #expect(rotated.count > 10)
            #expect(rotated.first == "\(path).20261121T120000Z-000001")
            for file in rotated {
                #expect(try #require(FileStatus(path: file)).size <= 4096)
                #expect(try Data(contentsOf: URL(fileURLWithPath: file)).last == 0x0A)
            }
            #expect(try Self.decisions(rotated + [path]) == (0..<200).map { decision($0).text })
            let verification = try AuditVerification([path])
            #expect(verification.problems == [])
            #expect(verification.files == rotated.count + 1)
            #expect(verification.verifier.chains.map(\.last.sequence) == [201])
        }
    }

    @Test("A removed rotated file is found, with the range of its lines")
    func removedFile() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<100, to: path, rotation: Self.bySize)
            let rotated = RotatedFile.all(of: path).map(\.path)
            let begin = try lines(rotated[3])[0]
            let first = try #require(AuditChain.Line(Array(begin.utf8)[...])).head.sequence
            let end = try #require(try lines(rotated[3]).last)
            let last = try #require(AuditChain.Line(Array(end.utf8)[...])).head.sequence
            try FileManager.default.removeItem(atPath: rotated[3])
            #expect(try AuditVerification([path]).verifier.findings.map(\.missing) == [first...last])
        }
    }

    @Test("A file is renamed when its first line is too old, also by a later server")
    func age() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            let clock = ManualClock()
            let rotation = AuditRotation(age: .seconds(3600))
            try await write(0..<2, to: path, rotation: rotation, clock: clock.hostClock)
            clock.advance(by: .seconds(3599))
            try await write(2..<4, to: path, rotation: rotation, clock: clock.hostClock)
            #expect(RotatedFile.all(of: path).isEmpty)
            clock.advance(by: .seconds(1))
            try await write(4..<6, to: path, rotation: rotation, clock: clock.hostClock)
            #expect(RotatedFile.all(of: path).map(\.path) == ["\(path).20261121T130000Z-000001"])
            #expect(try Self.decisions([path]) == [decision(4).text, decision(5).text])
            #expect(try AuditVerification([path]).isIntact)
        }
    }

    @Test("Names sort by time, and none is used twice, also when the clock is set back")
    func names() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            var names: [String] = []
            for seconds in [100, 100, 50, 200, 0] {
                names.append(try #require(RotatedFile.reserve(for: path, now: Instant(seconds: Int64(seconds)))))
            }
            #expect(names == names.sorted())
            #expect(Set(names).count == 5)
            #expect(RotatedFile.all(of: path).map(\.path) == names)
            #expect(RotatedFile.original(of: names[0] + ".gz") == path)
            #expect(RotatedFile.original(of: path) == nil)
        }
    }

    @Test(
        "Wherever a rotation is interrupted, no record is lost and the chain continues",
        arguments: ["the name is reserved", "the file is renamed", "the new file is empty", "a line is torn before"])
    func killed(_ place: String) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<5, to: path)
            let target = try #require(RotatedFile.reserve(for: path, now: Instant(seconds: 0)))
            if place != "the name is reserved" {
                #expect(Folder.rename(path, to: target))
                if place == "the new file is empty" { #expect(Folder.reserve(path)) }
                if place == "a line is torn before" {
                    let handle = try #require(FileHandle(forWritingAtPath: target))
                    try handle.seekToEnd()
                    try handle.write(contentsOf: Data("{\"time\":".utf8))
                    try handle.close()
                }
            }
            try await write(5..<8, to: path, rotation: AuditRotation(size: 1 << 20))
            let verification = try AuditVerification([path])
            #expect(verification.problems == [])
            #expect(verification.verifier.chains.count == 1)
            let files = try AuditPaths.files([path])
            var found: [String] = []
            for file in files {
                for line in try lines(file) {
                    if let decision = (try? JSON.parse(Array(line.utf8)))?["decision"]?.string {
                        found.append(decision)
                    }
                }
            }
            #expect(found.sorted() == (0..<8).map { decision($0).text })
        }
    }

    @Test("A file that cannot be continued begins a new chain that says so, and the log does too")
    func unreadable() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try Data("no chain\n".utf8).write(to: URL(fileURLWithPath: "\(path).20260101T000000Z-000001"))
            let log = RecordingLog()
            try await write(0..<2, to: path, logger: log.logger)
            #expect(try JSON.parse(Array(lines(path)[0].utf8))["after"] == "unreadable")
            #expect(log.lines.contains { $0.hasPrefix("the file that the audit chain ended in cannot be read") })
            #expect(log.lines.last?.hasPrefix("audit file closed chain=") == true)
        }
    }

    @Test(
        "A start without the file that the chain continues in, and with others of it, gives a warning",
        arguments: [
            ("nothing", [], false), ("the file", ["audit.jsonl"], false), ("an index", ["audit.jsonl.idx"], false),
            ("other files", ["audit.json", "other.jsonl.1"], false), ("a file of logrotate", ["audit.jsonl.1"], true),
            ("a compressed file of logrotate", ["audit.jsonl-20261124.gz"], true),
            ("the file and another", ["audit.jsonl", "audit.jsonl.1"], false),
        ] as [(String, [String], Bool)])
    func missing(_ name: String, _ names: [String], _ isWarned: Bool) async throws {
        try await withFolder { folder in
            for name in names { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
            let log = RecordingLog()
            try await write(0..<1, to: "\(folder)/audit.jsonl", logger: log.logger)
            #expect(
                log.lines.contains { $0.hasPrefix("the audit file is missing, and older files of it are there") }
                    == isWarned)
        }
    }

    @Test("A start that continues after a rotated file, because the file itself is missing, says what may be lost")
    func missingAfterRotation() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            let rotation = AuditRotation(size: 2000)
            try await write(0..<20, to: path, rotation: rotation)
            for isRemoved in [false, true] {
                if isRemoved { try FileManager.default.removeItem(atPath: path) }
                let log = RecordingLog()
                try await write(20..<21, to: path, rotation: rotation, logger: log.logger)
                #expect(
                    log.lines.contains { $0.hasPrefix("the audit file is missing, and rotated files of it are there") }
                        == isRemoved)
            }
            // Nothing else shows it: the lines that were removed have the same numbers as those that came after.
            #expect(try AuditVerification([path]).isIntact)
        }
    }

    @Test("Rotated files are compressed as a whole, and what was interrupted is done again")
    func compression() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<100, to: path, rotation: Self.bySize)
            let rotated = RotatedFile.all(of: path).map(\.path)
            // Killed while the first was written, and before the second was removed.
            try Data([0x1F, 0x8B, 8]).write(to: URL(fileURLWithPath: "\(rotated[0]).gz.tmp"))
            try GZipBlocks.compress(rotated[1], to: "\(rotated[1]).gz")
            #expect(try AuditVerification([path]).problems == [])
            #expect(try AuditVerification([folder]).problems.filter { !$0.hasPrefix("foreign") } == [])

            let rotation = AuditRotation(size: 4096, compresses: true)
            try await write(100..<120, to: path, rotation: rotation)
            // What is not done at the end is left to the next start.
            let file = try AuditFile(path: path, logger: silent, options: AuditFile.Options(rotation: rotation))
            for _ in 0..<6000 where RotatedFile.all(of: path).contains(where: { !$0.isCompressed }) {
                try await Task.sleep(for: .milliseconds(20))
            }
            await file.close()
            let all = RotatedFile.all(of: path)
            #expect(all.count { !$0.isCompressed } == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.filter { $0.hasSuffix(".tmp") } == [])
            let verification = try AuditVerification([path])
            #expect(verification.problems == [])
            #expect(verification.verifier.chains.map(\.last.sequence) == [121])
        }
    }

    @Test(
        "Only the newest rotated files are kept, the chain says which lines were removed, and any other beginning is a finding",
        arguments: [false, true])
    func keep(_ compresses: Bool) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            try await write(0..<100, to: path, rotation: Self.bySize)
            #expect(RotatedFile.all(of: path).count > 3)
            let rotation = AuditRotation(size: 1 << 20, keep: 3, compresses: compresses)
            let file = try AuditFile(path: path, logger: silent, options: AuditFile.Options(rotation: rotation))
            while RotatedFile.all(of: path).count != 3 { try await Task.sleep(for: .milliseconds(10)) }
            await file.close()
            #expect(RotatedFile.all(of: path).allSatisfy { $0.isCompressed == compresses })
            #expect(RotatedFile.all(of: path).count == 3)
            let verification = try AuditVerification([path])
            #expect(verification.problems == [])
            #expect(verification.verifier.chains.map(\.beginning) == [.removed])

            // A file that another program removed is not the one that the last line about a removal names.
            try FileManager.default.removeItem(atPath: RotatedFile.all(of: path)[0].path)
            let robbed = try AuditVerification([path])
            #expect(robbed.problems == ["missing 1"])
            #expect(robbed.verifier.findings[0].missing?.lowerBound == 1)
        }
    }

    @Test(
        "A file that another program truncates, removes or replaces is noticed, said, counted and found by the verifier",
        arguments: ["truncated", "cut within a line", "removed", "replaced"])
    func interrupted(_ name: String) async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            let log = RecordingLog()
            let counts = Mutex<[String: Double]>([:])
            let meter = Meter { _, metric, change, labels in
                guard metric.name == "audit_file_interruptions_total", case .add(let amount) = change else { return }
                counts.withLock { $0[labels.last ?? "", default: 0] += amount }
            }
            let file = try AuditFile(
                path: path, logger: log.logger, meter: meter, options: AuditFile.Options(retryDelay: .milliseconds(5)))
            for number in 0..<10 { file.record(record(number)) }
            while try !FileManager.default.fileExists(atPath: path) || lines(path).count < 11 { await Task.yield() }
            let before = try lines(path)
            switch name {
            case "truncated": #expect(truncate(path, 0) == 0)
            case "cut within a line": #expect(truncate(path, off_t(before[0].utf8.count + 10)) == 0)
            case "removed": try FileManager.default.removeItem(atPath: path)
            default:
                try save(Array(before[..<5]), to: "\(path).new")
                #expect(rename("\(path).new", path) == 0)
            }
            let cause = name == "cut within a line" ? "truncated" : name
            // It is noticed although no record comes.
            while counts.withLock({ $0[cause] }) != 1 { try await Task.sleep(for: .milliseconds(2)) }
            for number in 10..<12 { file.record(record(number)) }
            await file.close()
            #expect(counts.withLock { $0.filter { $0.value > 0 } } == [cause: 1])
            #expect(log.lines.contains { $0.hasPrefix("the audit file was \(cause)") })
            let after = try lines(path).compactMap { try? JSON.parse(Array($0.utf8)) }
            let event = try #require(after.first { $0["event"] == "audit_interrupted" })
            #expect(event["details"]?["cause"]?.string == cause)
            #expect(event["details"]?["last_seq"] == 11)
            #expect(after.suffix(2).map { $0["decision"]?.string } == [decision(10).text, decision(11).text])
            let verification = try AuditVerification([path])
            #expect(verification.verifier.findings.contains { $0.missing?.upperBound == 11 })
            #expect(verification.verifier.chains.map(\.last.sequence) == [14])
        }
    }

    @Test("A file that loses its path to another one is said once, and written to until it is opened again")
    func renamed() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            let log = RecordingLog()
            let file = try AuditFile(
                path: path, logger: log.logger, clock: ManualClock().hostClock,
                options: AuditFile.Options(retryDelay: .milliseconds(2)))
            try FileManager.default.moveItem(atPath: path, toPath: "\(path).1")
            try Data().write(to: URL(fileURLWithPath: path))
            let words = "the audit file was renamed, or another file has its name"
            while !log.lines.contains(where: { $0.hasPrefix(words) }) { try await Task.sleep(for: .milliseconds(2)) }
            file.record(record(0))
            while try lines("\(path).1").count < 2 { await Task.yield() }
            try file.reopen()
            file.record(record(1))
            await file.close()
            #expect(log.lines.count { $0.hasPrefix(words) } == 1)
            #expect(try Self.decisions(["\(path).1", path]) == [decision(0).text, decision(1).text])
            #expect(try AuditVerification(["\(path).1", path]).problems == [])
            #expect(try AuditVerification([path]).problems == ["missing 1"])
        }
    }

    @Test("A second server cannot open the file, and the first one continues")
    func locked() async throws {
        try await withFolder { folder in
            let path = "\(folder)/audit.jsonl"
            let file = try AuditFile(path: path, logger: silent)
            let error = #expect(throws: AuditError.self) { try AuditFile(path: path, logger: silent) }
            #expect(error?.message == "the audit file \(path) is in use by another server: each needs one of its own")
            // A reload without a rename must not take away the lock.
            try file.reopen()
            file.record(record(1))
            await file.close()
            #expect(try lines(path).count == 2)
        }
    }
}
