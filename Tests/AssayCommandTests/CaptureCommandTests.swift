import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("Captured evidence with the commands", .timeLimit(.minutes(5)))
struct CaptureCommandTests {
    private static let wrongToken = "0B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C99"

    /// A folder with a key pair, policies, and the evidence of a server that refused a debug token and a used counter.
    private func captured(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let authority = try SimulatedAppleCA(at: HostClock.system.now)
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let made = try await AssayProcess.run("decisions", "keygen", "key.pem", folder: folder)
            #expect(made.status == 0 && made.output.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
            try Data(made.output.utf8).write(to: folder.appendingPathComponent("capture.pub.pem"))
            try Self.write("capture: {public_key: 'file:../capture.pub.pem'}", to: "policies/capture.yaml", in: folder)
            let server = try await AssayServer(in: folder, arguments: ["--capture", "evidence"])
            let device = SimulatedDevice(authority: authority)
            let keyID = try device.generateKey()
            let attested = try await server.attest(device, keyID, challenge: server.challenge())
            let artifact = try #require(attested.body["artifact"]?.string.flatMap { Base64.decode($0) })
            #expect(try await server.assert(device, keyID, artifact).status == 200)
            #expect(try await server.assert(device, keyID, artifact, counter: 1).status == 403)
            #expect(try await server.post("exchangeDebugToken", ["debugToken": .string(Self.wrongToken)]).status == 403)
            #expect(await server.end(SIGTERM).status == 0)
            try await body(folder)
        }
    }

    private static func write(_ text: String, to name: String, in folder: URL) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    private func replay(_ folder: URL, _ arguments: String...) async throws -> AssayProcess.Result {
        let process = try AssayProcess(
            ["decisions", "replay", "--evidence", "evidence", "--key", "key.pem"] + arguments, environment: [:],
            folder: folder)
        return await process.result()
    }

    private func files(_ folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder.appendingPathComponent("evidence"), includingPropertiesForKeys: nil)
    }

    @Test("Evidence of a server is judged again, by the same and by other policies, and explained")
    func use() async throws {
        try await captured { folder in
            let text = try await replay(folder)
            #expect(text.status == 0, "\(text.errors)")
            #expect(
                text.output.contains("  then  refused: counter_not_advanced (1 is not above the last one accepted)"))
            #expect(text.output.contains("2 the same, 0 different, 0 not judged under the policies "))
            #expect(!text.output.contains(Self.wrongToken))

            let lines = try await replay(folder, "--format", "json").lines.map { try JSON.parse(Array($0.utf8)) }
            #expect(lines.count == 3 && lines.last?["summary"]?["same"] == 2)
            #expect(
                lines.dropLast().allSatisfy { $0["result"] == "same" && $0["then"]?["reason"] == $0["now"]?["reason"] })
            let counter = try #require(lines.first { $0["then"]?["reason"] == "counter_not_advanced" })
            let decision = try #require(counter["decision"]?.string)
            #expect(try await replay(folder, "--decision", decision).lines.count == 5)
            #expect(try await replay(folder, "--app", "1:1234567890:ios:321abc456def7890").status == 0)
            #expect(try await replay(folder, "--app", "1:1234567890:ios:0").status == 2)
            #expect(try await replay(folder, "--since", "2100-01-01T00:00:00Z").status == 2)
            #expect(try await replay(folder, "--since", "2100-01-01").status == 2)
            #expect(try await replay(folder, "--since", "1h").lines == text.lines)
            #expect(try await replay(folder, "--since", "soon").errors.contains("soon"))

            let explained = try await AssayProcess.run(
                "verify", "record", "evidence", "--key", "key.pem", "--decision", decision, folder: folder)
            #expect(explained.status == 1, "\(explained.errors)")
            #expect(explained.output.contains("outcome   refused: counter_not_advanced"))
            #expect(explained.output.contains("assertion refused: counter_not_advanced."))
            #expect(explained.output.contains("FAILED       counter_advanced"))
            let content = try await AssayProcess.run(
                "verify", "record", "evidence", "--key", "key.pem", "--decision", decision, "--content",
                folder: folder)
            #expect(try JSON.parse(Array(content.output.utf8.dropLast()))["body"]?["assertion"] != nil)

            // The same evidence under other policies.
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("other"), withIntermediateDirectories: true)
            let policy = try String(contentsOf: folder.appendingPathComponent("policies/policy.yaml"), encoding: .utf8)
            let token = "tokens: [{name: later, token: 'env:ASSAY_DEBUG_TOKEN'}]"
            try Self.write(
                policy.replacing(
                    "tokens: [{name: local, token: 'env:ASSAY_DEBUG_TOKEN', optional: true}]", with: token),
                to: "other/a.yaml", in: folder)
            let process = try AssayProcess(
                ["decisions", "replay", "--evidence", "evidence", "--key", "key.pem", "--policies", "other"],
                environment: ["ASSAY_DEBUG_TOKEN": Self.wrongToken], folder: folder)
            let other = await process.result()
            #expect(other.status == 1, "\(other.errors)")
            #expect(other.output.contains("  now   issued\n"))
            #expect(other.output.contains("1 the same, 1 different, 0 not judged"))
        }
    }

    @Test("A decision that several of the files have is counted once, and how many were repeated is said")
    func repeated() async throws {
        try await captured { folder in
            let file = try #require(try files(folder).first)
            let copy = folder.appendingPathComponent("copy.jsonl")
            try FileManager.default.copyItem(at: file, to: copy)
            for (format, words) in [
                ("text", "2 the same, 0 different, 0 not judged"), ("text", "2 repeated records not counted"),
                ("json", #""same":2,"#), ("json", #""repeated":2,"#),
            ] {
                let result = try await AssayProcess.run(
                    "decisions", "replay", "--key", "key.pem", "--format", format, "--evidence", "evidence",
                    "copy.jsonl",
                    folder: folder)
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.output.contains(words), "\(result.output)")
            }
            #expect(try await !replay(folder).output.contains("repeated"))
        }
    }

    @Test("Damaged, hostile and foreign evidence is said to be so, and the rest is judged")
    func damaged() async throws {
        try await captured { folder in
            let file = try #require(try files(folder).first)
            let good = try String(contentsOf: file, encoding: .utf8)
            let first = try #require(good.split(separator: "\n").first)
            let bad = "\(first.dropLast(200))\n{}\n\u{1B}[31m\n\(first.replacing("counter", with: "x"))\n"
            let huge = String(repeating: "x", count: 5 << 20) + "\n"
            try Data((bad + huge + good).utf8).write(to: file)
            let result = try await replay(folder)
            #expect(result.status == 2)
            #expect(result.errors.contains(":5: the line is longer than 4 MiB"))
            #expect(!result.errors.contains("\u{1B}") && !result.output.contains("\u{1B}"))
            #expect(result.output.contains("records could not be read"))

            #expect(try await AssayProcess.run("decisions", "keygen", "other.pem", folder: folder).status == 0)
            let process = try AssayProcess(
                ["decisions", "replay", "--evidence", file.path, "--key", "other.pem"], environment: [:],
                folder: folder)
            let foreign = await process.result()
            #expect(foreign.status == 2 && foreign.errors.contains("it is encrypted for the key "))
            // The same of all records is said once.
            let lines = foreign.errors.split(separator: "\n").filter { $0.contains("it is encrypted for the key ") }
            #expect(lines.count == 1 && lines.first?.contains(" other record") == true, "\(foreign.errors)")
        }
    }

    @Test("The private key is in a new file for its owner only, and no other file is taken for one")
    func key() async throws {
        try await withTemporaryFolder { folder in
            #expect(try await AssayProcess.run("decisions", "keygen", "key.pem", folder: folder).status == 0)
            let path = folder.appendingPathComponent("key.pem").path
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try await AssayProcess.run("decisions", "keygen", "key.pem", folder: folder).status == 2)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let readable = try await AssayProcess.run(
                "verify", "record", ".", "--key", "key.pem", "--decision", "x", folder: folder)
            #expect(readable.status == 2 && readable.errors.contains("644"))
        }
    }

    @Test("A server warns when --capture and the policies do not go together, and refuses a folder that others can use")
    func options() async throws {
        try await withTemporaryFolder { folder in
            let authority = try SimulatedAppleCA(at: HostClock.system.now)
            try AssayServer.writePolicy(in: folder, trusting: authority)
            let without = try await AssayServer(in: folder, arguments: ["--capture", "evidence"])
            #expect(await without.end(SIGTERM).errors.contains("the policies have no section `capture`"))
            let made = try await AssayProcess.run("decisions", "keygen", "key.pem", folder: folder)
            try Data(made.output.utf8).write(to: folder.appendingPathComponent("capture.pub.pem"))
            try Self.write("capture: {public_key: 'file:../capture.pub.pem'}", to: "policies/capture.yaml", in: folder)
            let nowhere = try await AssayServer(in: folder)
            #expect(await nowhere.end(SIGTERM).errors.contains("nothing is captured without --capture FOLDER"))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: folder.appendingPathComponent("evidence").path)
            let refused = try await AssayProcess.run("serve", "--capture", "evidence", folder: folder)
            #expect(refused.status == 2 && refused.errors.contains("chmod 700 evidence"))
        }
    }
}
