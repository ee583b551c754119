import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import AssayTestSupport
import Foundation
import Logging
import Testing

/// What an operator names may be no file, cut off, or have nothing in it: commands say so, and never wait or keep silent.
@Suite("Commands with odd files", .timeLimit(.minutes(10)))
struct HostileInputTests {
    private static let policy = """
        projects:
          - {id: p, number: 1, apps: [{id: "1:1:ios:a", providers: {debug: {tokens: [{name: x, token: "env:ABSENT"}]}}}]}
        """

    /// A folder with policies, a key for evidence and an audit file.
    private func withFiles(_ count: Int = 3000, _ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data(Self.policy.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            #expect(try await AssayProcess.run("decisions", "keygen", "key.pem", folder: folder).status == 0)
            let file = try AuditFile(
                path: folder.appendingPathComponent("audit.jsonl").path,
                logger: Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() })
            for number in 0..<count {
                file.record(
                    DecisionRecord(
                        decision: DecisionID(text: "D\(number)"), time: Instant(seconds: 1_795_262_400 + Int64(number)),
                        duration: .milliseconds(3), method: "exchangeDebugToken", resource: "projects/1/apps/1:1:ios:a",
                        provider: "debug",
                        outcome: .issued(tokenID: "t", limitedUse: false, expires: Instant(seconds: 1_795_262_400)),
                        detail: nil, facts: [], peer: "192.0.2.1"))
            }
            await file.close()
            try await body(folder)
        }
    }

    @Test(
        "A pipe without a writer, a device and a folder are refused at once, whatever is to be read",
        arguments: [
            ["decisions", "replay", "--key", "key.pem", "--evidence"],
            ["verify", "record", "--key", "key.pem", "--decision", "x"],
            ["policy", "diff", "policies", "policies", "--against"],
            ["verify", "app-attest"], ["audit", "index"], ["decisions", "list", "--audit"],
            ["decisions", "show", "x", "--audit"], ["decisions", "stats", "--by", "app", "--audit"],
        ])
    func irregular(_ command: [String]) async throws {
        try await withFiles(1) { folder in
            try #require(mkfifo(folder.appendingPathComponent("pipe").path, 0o600) == 0)
            for name in ["pipe", "/dev/zero"] {
                let process = try AssayProcess(
                    command + [name], environment: ["ABSENT": "0B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C99"], folder: folder)
                let result = await process.result()
                #expect(result.status == 2, "\(name) \(result.output)\(result.errors)")
                #expect(result.errors.contains("\(name) is not a regular file"), "\(result.errors)")
            }
        }
    }

    @Test("What is cut off gives what can be read, words on standard error, and exit code 2; verify says 1")
    func cut() async throws {
        try await withFiles { folder in
            let path = folder.appendingPathComponent("audit.jsonl").path
            try GZipBlocks.compress(path, to: "\(path).gz")
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(path).gz"))
            try FileManager.default.removeItem(atPath: "\(path).gz")
            try data.dropLast(data.count / 3).write(to: folder.appendingPathComponent("cut.gz"))
            let words = "cut.gz: the gzip data is cut off"
            for arguments in [
                ["decisions", "list", "--audit", "cut.gz"], ["decisions", "list", "--no-index", "--audit", "cut.gz"],
                ["decisions", "show", "D1", "--audit", "cut.gz"], ["decisions", "show", "D2999", "--audit", "cut.gz"],
                ["decisions", "stats", "--by", "app", "--audit", "cut.gz"],
                ["policy", "diff", "policies", "policies", "--against", "cut.gz"], ["audit", "index", "cut.gz"],
                ["audit", "verify", "cut.gz"],
            ] {
                let process = try AssayProcess(arguments, folder: folder)
                let result = await process.result()
                let isVerification = arguments[1] == "verify"
                #expect(result.status == (isVerification ? 1 : 2), "\(arguments)")
                #expect(
                    (isVerification ? result.output : result.errors).contains(words), "\(arguments) \(result.errors)")
                switch arguments.prefix(3) {
                case ["decisions", "list", "--audit"], ["decisions", "list", "--no-index"]:
                    #expect(result.lines.count == 51)
                case ["decisions", "show", "D1"]: #expect(result.output.contains("Decision D1: a token was issued"))
                case ["decisions", "show", "D2999"]: #expect(result.output.isEmpty)
                case ["decisions", "stats", "--by"]: #expect(result.lines.count == 1)
                case ["policy", "diff", "policies"]: #expect(result.output.contains("recorded decisions: "))
                default: break
                }
            }
        }
    }

    @Test("Files without a record and folders without a file are named, and nothing is called intact")
    func nothing() async throws {
        try await withFiles(3) { folder in
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("empty"), withIntermediateDirectories: false)
            try Data("some words".utf8).write(to: folder.appendingPathComponent("words"))
            for command in [
                ["decisions", "list", "--audit"], ["decisions", "show", "D1", "--audit"],
                ["decisions", "stats", "--by", "app", "--audit"], ["audit", "index"],
            ] {
                let process = try AssayProcess(command + ["empty", "words", "audit.jsonl"], folder: folder)
                let result = await process.result()
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.errors.contains("no audit file in empty\n"))
                #expect(result.errors.contains("words has no record of a decision\n"))
                #expect(!result.errors.contains("audit.jsonl has no"))
            }
            for (name, words) in [
                ("words", "there is no record of a server in words: no line has a place in a chain"),
                ("empty", "there is no record of a server in the given folders"),
            ] {
                let result = try await AssayProcess.run("audit", "verify", name, folder: folder)
                #expect(result.status == 1)
                #expect(result.output.contains(words) && !result.output.contains("\nintact"), "\(result.output)")
            }
            #expect(try await AssayProcess.run("audit", "index", "empty", folder: folder).status == 2)
        }
    }

    @Test("A record that is too deep to be explained is found, and is not called anything else")
    func deep() async throws {
        try await withFiles(1) { folder in
            let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
            let line = #"{"time":"2026-11-24T08:00:00.000Z","decision":"X","outcome":"refused","x":"# + deep + "}\n"
            try Data(line.utf8).write(to: folder.appendingPathComponent("deep"))
            let result = try await AssayProcess.run("decisions", "show", "X", "--audit", "deep", folder: folder)
            #expect(result.status == 1)
            #expect(result.errors.contains("the record cannot be explained: the JSON text is nested too deeply"))
            let json = try await AssayProcess.run(
                "decisions", "show", "X", "--audit", "deep", "--format", "json", folder: folder)
            #expect(json.output == line)
        }
    }

    @Test("An index whose making was interrupted keeps what it has, and the next one continues from there")
    func interrupted() async throws {
        try await withFiles(1000) { folder in
            let part = try Data(contentsOf: folder.appendingPathComponent("audit.jsonl"))
            let path = folder.appendingPathComponent("large").path
            try #require(FileManager.default.createFile(atPath: path, contents: nil))
            let file = try #require(FileHandle(forWritingAtPath: path))
            for _ in 0..<(60 << 20) / part.count { try file.write(contentsOf: part) }
            try file.close()
            let process = try AssayProcess(["audit", "index", "large"], folder: folder)
            while process.process.isRunning, !FileManager.default.fileExists(atPath: "\(path).idx") {
                try await Task.sleep(for: .milliseconds(2))
            }
            kill(process.process.processIdentifier, SIGKILL)
            #expect(await process.result().output.isEmpty)
            let second = try await AssayProcess.run("audit", "index", "large", folder: folder)
            #expect(second.status == 0)
            let size = try #require(second.output.split(separator: " ").dropLast(2).last.flatMap { Int($0) })
            #expect(size < 50, "\(second.output)")
        }
    }
}
