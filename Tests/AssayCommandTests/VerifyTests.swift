import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("assay verify app-attest")
struct VerifyTests {
    private static let fixtures = "fixtures/app-attest"

    @Test(
        "Samples of real devices come out as they should, one line each, in order",
        .enabled(if: SharedFiles.has(fixtures), Comment(rawValue: SharedFiles.absence)),
        arguments: ["attestations", "assertions", "receipts"])
    func real(_ folder: String) async throws {
        let files = SharedFiles.list("\(Self.fixtures)/\(folder)", ending: ".json")
        let samples = try files.map { try JSON.parse(SharedFiles.bytes($0), limits: JSON.Limits(bytes: 1 << 20)) }
        let batch = samples.map { String(decoding: $0.encoded, as: UTF8.self) }.joined(separator: "\n")
        let result = try await AssayProcess.run("verify", "app-attest", "--batch", "-", input: batch)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.count == samples.count)
        #expect(samples.count >= 20)
        for (sample, line) in zip(samples, result.lines) {
            let verdict = try JSON.parse(Array(line.utf8))
            #expect(verdict["source"] == sample["source"])
            #expect(verdict["kind"] == sample["kind"])
            #expect(verdict["verdict"] == "verified")
            #expect(verdict["reason"] == .null)
            if folder == "attestations" {
                #expect(verdict["environment"] == sample["environment"])
                #expect(verdict["os_version"] == (sample["os_version"] ?? .null))
            }
            let expected = sample["receipt_expected"]?.string ?? sample["expected"]?.string
            let receipt = ["valid": "verified", "not valid": "refused", "legacy-2020": "legacy-2020"][expected ?? ""]
            if folder != "assertions" { #expect(verdict["receipt"]?["verdict"]?.string == receipt) }
        }
    }

    @Test(
        "Damaged copies are refused, and files are verified like a batch",
        .enabled(if: SharedFiles.has(fixtures), Comment(rawValue: SharedFiles.absence)))
    func damaged() async throws {
        let root = try #require(SharedFiles.root)
        let files = SharedFiles.list("\(Self.fixtures)/damaged", ending: ".json").map {
            root.appendingPathComponent($0).path
        }
        for file in files {
            let result = try await AssayProcess.run("verify", "app-attest", file)
            #expect(result.status == 1)
            let verdict = try JSON.parse(Array(result.output.utf8))
            #expect(verdict["verdict"] == "refused")
            #expect(verdict["file"]?.string == file)
        }
    }

    @Test(
        "A bad receipt refuses the attestation only where it is required",
        .enabled(if: SharedFiles.has(fixtures), Comment(rawValue: SharedFiles.absence)))
    func requireReceipt() async throws {
        let file = try #require(
            SharedFiles.list("\(Self.fixtures)/attestations", ending: "4949301d.json").first)
        let path = try #require(SharedFiles.root).appendingPathComponent(file).path
        #expect(try await AssayProcess.run("verify", "app-attest", path).status == 0)
        let strict = try await AssayProcess.run("verify", "app-attest", path, "--require-receipt")
        #expect(strict.status == 1)
        let verdict = try JSON.parse(Array(strict.output.utf8))
        #expect(verdict["reason"] == verdict["receipt"]?["reason"])
        #expect(verdict["reason"]?.string?.hasPrefix("receipt_") == true)
    }

    @Test("Another anchor and another time decide what is verified")
    func anchorAndTime() async throws {
        try await withTemporaryFolder { folder in
            let now = Instant(rfc3339: "2026-11-21T12:00:00Z") ?? Instant(seconds: 0)
            let authority = try SimulatedAppleCA(at: now)
            let device = SimulatedDevice(authority: authority)
            let keyID = try device.generateKey()
            let attestation = try device.attestKey(
                keyID, clientDataHash: [1, 2, 3],
                app: SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production), at: now)
            let sample: JSON = [
                "kind": "attestation", "attestation_base64": .string(Base64.encode(attestation)),
                "key_id_base64": .string(keyID), "client_data_hash_base64": "AQID",
                "app_id": "ABCDE12345.com.example.app", "environment": "production",
                "valid_at": .string(now.description),
            ]
            let file = folder.appendingPathComponent("sample.json")
            let anchor = folder.appendingPathComponent("root.pem")
            let receiptAnchor = folder.appendingPathComponent("receipt-root.der")
            try Data(sample.encoded).write(to: file)
            try Data(authority.rootCertificatePEM.utf8).write(to: anchor)
            try Data(authority.receiptRootCertificateDER).write(to: receiptAnchor)
            func run(_ arguments: String...) async throws -> (status: Int32, verdict: JSON) {
                let process = try AssayProcess(["verify", "app-attest", file.path] + arguments)
                let result = await process.result()
                return (result.status, try JSON.parse(Array(result.output.utf8)))
            }
            let apple = try await run()
            #expect(apple.status == 1)
            #expect(apple.verdict["reason"] == "chain_untrusted")
            let trusted = try await run("--trust-anchor", anchor.path)
            #expect(trusted.status == 0)
            #expect(trusted.verdict["os_version"] == "27.0.1")
            #expect(trusted.verdict["receipt"]?["verdict"] == "refused")
            let both = try await run(
                "--trust-anchor", anchor.path, "--receipt-trust-anchor", receiptAnchor.path, "--require-receipt")
            #expect(both.status == 0)
            #expect(both.verdict["receipt"]?["verdict"] == "verified")
            #expect(both.verdict["receipt"]?["type"] == "ATTEST")
            let late = try await run("--trust-anchor", anchor.path, "--at", "2026-12-01T00:00:00Z")
            #expect(late.status == 1)
            #expect(late.verdict["reason"] == "leaf_expired")
        }
    }

    @Test("Lines keep their numbers where blank ones are passed over, and one too long does not end the rest")
    func lines() async throws {
        let long = #"{"kind":""# + String(repeating: "a", count: 1 << 20) + #""}"#
        for end in ["\n", "\r\n"] {
            let input = ["", "{}", "  \t", long, "", "[]"].joined(separator: end)
            let result = try await AssayProcess.run("verify", "app-attest", "--batch", "-", input: input)
            #expect(result.status == 2)
            let reports = try result.lines.map { try JSON.parse(Array($0.utf8)) }
            #expect(reports.map { $0["source"]?.string } == ["line 2", "line 4", "line 6"])
            #expect(reports.allSatisfy { $0["reason"] == "sample_malformed" })
            #expect(reports.dropFirst().first?["detail"] == "the line is longer than 1 MiB")
        }
    }

    @Test("Every file has its line, named and in order, also one that cannot be read")
    func unreadable() async throws {
        let files = ["/proc/no/such/file/a.json", "/dev/null", "/proc/no/such/file/b.json"]
        let result = try await AssayProcess(["verify", "app-attest"] + files).result()
        #expect(result.status == 2)
        let reports = try result.lines.map { try JSON.parse(Array($0.utf8)) }
        #expect(reports.map { $0["file"]?.string } == files)
        #expect(
            reports.map { $0["reason"]?.string } == ["sample_unreadable", "sample_malformed", "sample_unreadable"])
    }

    @Test(
        "Output that cannot be written is an error, not silence",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
        arguments: ["verify app-attest /dev/null", "reasons", "debug-token", "demo"])
    func fullDisk(command: String) throws {
        let shell = Process()
        let errors = Pipe()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "\"$0\" \(command) >/dev/full", AssayProcess.executable.path]
        shell.standardError = errors
        try shell.run()
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 2)
        #expect(said.contains("assay: cannot write to standard output: No space left on device"))
    }

    @Test("What cannot be verified at all ends with 2, and the others are verified all the same")
    func couldNotRun() async throws {
        let none = try await AssayProcess.run("verify", "app-attest", "/proc/no/such/file")
        #expect(none.status == 2)
        #expect(none.errors.contains("/proc/no/such/file"))
        let lines = ["no json", "{}", #"{"kind":"attestation"}"#, "[1]", #"{"kind":"other"}"#]
        let batch = try await AssayProcess.run(
            "verify", "app-attest", "--batch", "-", input: lines.joined(separator: "\n"))
        #expect(batch.status == 2)
        #expect(batch.lines.count == lines.count, "one line each, in order")
        for (number, line) in batch.lines.enumerated() {
            let verdict = try JSON.parse(Array(line.utf8))
            #expect(verdict["reason"] == "sample_malformed")
            #expect(verdict["source"]?.string == "line \(number + 1)")
        }
        #expect(try await AssayProcess.run("verify", "app-attest").status == 2)
        #expect(try await AssayProcess.run("verify", "app-attest", "x", "--at", "noon").status == 2)
        #expect(try await AssayProcess.run("verify", "app-attest", "--trust-anchor", "/dev/null", "x").status == 2)
    }
}
