import AssayCore
import AssayCrypto
import AssayTesting
import AssayTestSupport
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

    @Test("A field with almost the name of one that is read is an error, and no note")
    func misspelled() async throws {
        let sample = #"{"kind":"assertion","previous_countr":7,"note":"any"}"#
        let result = try await AssayProcess.run("verify", "app-attest", "--batch", "-", input: sample)
        #expect(result.status == 2)
        let report = try JSON.parse(Array(result.output.utf8))
        #expect(report["reason"] == "sample_malformed")
        #expect(report["detail"] == "`previous_countr` is not read; is `previous_counter` meant?")
    }

    @Test("Every file has its line, named and in order, also one that cannot be read")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: folder.appendingPathComponent("empty"))
            let files = ["/proc/no/such/file/a.json", "empty", "/dev/null"]
            let result = try await AssayProcess(["verify", "app-attest"] + files, folder: folder).result()
            #expect(result.status == 2)
            let reports = try result.lines.map { try JSON.parse(Array($0.utf8)) }
            #expect(reports.map { $0["file"]?.string } == files)
            #expect(
                reports.map { $0["reason"]?.string } == ["sample_unreadable", "sample_malformed", "sample_unreadable"])
            #expect(reports.last?["detail"] == "/dev/null is not a regular file")
        }
    }

    @Test(
        "Output that cannot be written is an error, not silence",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
        arguments: ["verify app-attest /dev/null", "reasons", "debug-token", "demo"])
    func fullDisk(command: String) throws {
        let shell = ChildProcess()
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

    @Test("What cannot be verified at all ends with 2, and the others are verified anyway")
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

    /// An attestation of a simulated device, and what verifies it.
    private struct Simulated {
        static let now = Instant(rfc3339: "2026-11-21T12:00:00Z") ?? Instant(seconds: 0)
        let authority: SimulatedAppleCA
        var sample: [String: JSON]
        let keyID: String

        init(_ system: SimulatedSystem = .iOS27, clientDataHash: [UInt8]) throws {
            authority = try SimulatedAppleCA(at: Self.now)
            let device = SimulatedDevice(authority: authority, system: system)
            keyID = try device.generateKey()
            let attestation = try device.attestKey(
                keyID, clientDataHash: clientDataHash,
                app: SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production), at: Self.now)
            sample = [
                "kind": "attestation", "attestation_base64": .string(Base64.encode(attestation)),
                "key_id_base64": .string(keyID), "client_data_hash_base64": .string(Base64.encode(clientDataHash)),
                "app_id": "ABCDE12345.com.example.app", "environment": "production",
                "valid_at": .string(Self.now.description),
            ]
        }

        /// Verifies the sample as the one line of a batch.
        func verify(
            _ folder: URL, _ options: [String] = [], receipts: Bool = true,
            _ change: (inout [String: JSON]) -> Void = { _ in }
        ) async throws -> (status: Int32, output: String, errors: String) {
            var sample = sample
            change(&sample)
            let anchor = folder.appendingPathComponent("root.pem")
            let receiptAnchor = folder.appendingPathComponent("receipt-root.der")
            try Data(authority.rootCertificatePEM.utf8).write(to: anchor)
            try Data(authority.receiptRootCertificateDER).write(to: receiptAnchor)
            let members = sample.map { JSONMember($0.key, $0.value) }
            let input = "\n" + String(decoding: JSON.object(members).encoded, as: UTF8.self)
            let anchors =
                ["--trust-anchor", anchor.path] + (receipts ? ["--receipt-trust-anchor", receiptAnchor.path] : [])
            let process = try AssayProcess(["verify", "app-attest", "--batch", "-"] + anchors + options, input: input)
            let result = await process.result()
            return (result.status, result.output, result.errors)
        }
    }

    @Test("A refusal shows both values: dates, digests, identifiers")
    func values() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try Simulated(clientDataHash: [1, 2, 3])
            func detail(_ options: [String] = [], _ change: (inout [String: JSON]) -> Void) async throws -> String {
                let result = try await simulated.verify(folder, options, change)
                #expect(result.status == 1)
                return try JSON.parse(Array(result.output.utf8))["detail"]?.string ?? ""
            }
            let late = try await detail(["--at", "2027-12-01T00:00:00Z"]) { _ in }
            #expect(late.contains("valid from 2026-11-") && late.contains(" to 202"), "\(late)")
            #expect(late.hasSuffix("judged at 2027-12-01T00:00:00Z"), "\(late)")
            let app = try await detail { $0["app_id"] = "ABCDE12345.com.example.other" }
            #expect(app.contains(Hex.encode(SHA256.hash(Array("ABCDE12345.com.example.other".utf8)))), "\(app)")
            #expect(app.hasSuffix("found " + Hex.encode(SHA256.hash(Array("ABCDE12345.com.example.app".utf8)))))
            let environment = try await detail { $0["environment"] = "development" }
            #expect(environment == "expected development, found production")
            let key = try await detail {
                $0["key_id_base64"] = .string(Base64.encode([UInt8](repeating: 9, count: 32)))
            }
            #expect(key.hasSuffix("found \(simulated.keyID)"), "\(key)")
        }
    }

    @Test("A refused receipt is seen at the top even where none is required")
    func receiptWarning() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try Simulated(clientDataHash: [1, 2, 3])
            let result = try await simulated.verify(folder, receipts: false)
            #expect(result.status == 0)
            let report = try JSON.parse(Array(result.output.utf8))
            #expect(report["verdict"] == "verified")
            guard case .array(let warnings)? = report["warnings"], let warning = warnings.first else {
                Issue.record("no warning: \(result.output)")
                return
            }
            #expect(warning["reason"] == "receipt_root_unknown")
            #expect(warning["message"]?.string?.contains("--require-receipt") == true)
            let good = try JSON.parse(Array(try await simulated.verify(folder).output.utf8))
            #expect(good["warnings"] == .array([]))
        }
    }

    @Test("What was hashed may be given in place of the client data hash, and says so where it was not hashed")
    func challenges() async throws {
        try await withTemporaryFolder { folder in
            let challenge = Array("a challenge".utf8)
            let hashed = try Simulated(clientDataHash: SHA256.hash(challenge))
            let raw = try Simulated(clientDataHash: challenge)
            func reason(_ simulated: Simulated, _ members: [String: JSON]) async throws -> (Int32, String?) {
                let result = try await simulated.verify(folder) {
                    $0["client_data_hash_base64"] = nil
                    $0.merge(members) { $1 }
                }
                let report = try JSON.parse(Array(result.output.utf8))
                return (result.status, report["reason"]?.string ?? report["verdict"]?.string)
            }
            let base64 = JSON.string(Base64.encode(challenge))
            let good: [(Simulated, [String: JSON])] = [
                (hashed, ["challenge_utf8": "a challenge"]), (hashed, ["challenge_base64": base64]),
                (hashed, ["challenge_base64": base64, "client_data_hash_is": "sha256(challenge)"]),
                (hashed, ["client_data_hash_hex": .string(Hex.encode(SHA256.hash(challenge)))]),
                (raw, ["challenge_utf8": "a challenge", "client_data_hash_is": "challenge"]),
                (hashed, ["client_data_utf8": "a challenge"]),
            ]
            for (simulated, members) in good { #expect(try await reason(simulated, members) == (0, "verified")) }
            #expect(try await reason(raw, ["challenge_utf8": "a challenge"]) == (1, "nonce_mismatch"))
            let bad: [([String: JSON], String)] = [
                ([:], "`challenge_utf8`"), (["challenge": "a challenge"], "`challenge` is not read"),
                (["challenge_utf8": "a", "challenge_base64": base64], "do not agree"),
                (["challenge_utf8": "a", "client_data_hash_is": "sha1"], "must be `sha256(challenge)`"),
                (
                    ["client_data_hash_base64": "AQID", "challenge_utf8": "a", "client_data_hash_is": "challenge"],
                    "do not agree"
                ),
            ]
            for (members, message) in bad {
                let result = try await hashed.verify(folder) {
                    $0["client_data_hash_base64"] = nil
                    $0.merge(members) { $1 }
                }
                #expect(result.status == 2)
                #expect(
                    result.errors.contains("standard input:2: ") && result.errors.contains(message), "\(result.errors)")
            }
        }
    }

    @Test("A key identifier may be hexadecimal, and one of another length is refused in words")
    func keyIdentifiers() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try Simulated(.macOS27, clientDataHash: [1, 2, 3])
            let hex = Hex.encode(try #require(Base64.decode(simulated.keyID)))
            for (name, value) in [("key_id_base64", hex), ("key_id_base64", hex.uppercased()), ("key_id_hex", hex)] {
                let result = try await simulated.verify(folder) {
                    $0["key_id_base64"] = nil
                    $0[name] = .string(value)
                }
                #expect(result.status == 0, "\(result.output)")
                let report = try JSON.parse(Array(result.output.utf8))
                #expect(report["os_family"] == "macOS")
                #expect(report["line"] == .integer(2))
            }
            for value in ["AQID", String(hex.dropLast(2)), "no"] {
                let result = try await simulated.verify(folder) { $0["key_id_base64"] = .string(value) }
                #expect(result.status == 2)
                #expect(result.errors.contains("or 64 hexadecimal digits"))
            }
        }
    }

    @Test("Each result of a batch has the number of its line, also where samples name their source")
    func lineNumbers() async throws {
        let lines = ["", #"{"source": "s", "kind": "receipt", "app_id": "A"}"#, "", "{}"]
        let result = try await AssayProcess.run(
            "verify", "app-attest", "--batch", "-", input: lines.joined(separator: "\n"))
        let reports = try result.lines.map { try JSON.parse(Array($0.utf8)) }
        #expect(reports.map { $0["line"] } == [.integer(2), .integer(4)])
        #expect(result.errors.contains("standard input:2: ") && result.errors.contains("standard input:4: "))
    }

    @Test("--explain tells people each check: what it expected, what it found, and which it did not come to")
    func explain() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try Simulated(clientDataHash: [1, 2, 3])
            let good = try await simulated.verify(folder, ["--explain"])
            #expect(good.status == 0)
            #expect(good.output.hasPrefix("standard input:2: attestation verified\n 1  passed       evidence_size: "))
            #expect(!good.output.contains("FAILED") && !good.output.contains("not reached"))
            #expect(good.output.contains("app_id: the authenticator data is for the app\n        expected  "))
            let bad = try await simulated.verify(folder, ["--explain", "--at", "2027-12-01T00:00:00Z"])
            #expect(bad.status == 1)
            #expect(bad.output.hasPrefix("standard input:2: attestation refused: leaf_expired. The leaf has expired."))
            #expect(bad.output.contains("13  passed       leaf_point"))
            #expect(bad.output.contains("14  FAILED       certificate_path"))
            #expect(bad.output.contains("judged at 2027-12-01T00:00:00Z"))
            #expect(bad.output.contains("15  not reached  receipt_form"))
            let warned = try await simulated.verify(folder, ["--explain"], receipts: false)
            #expect(warned.status == 0)
            #expect(warned.output.contains("FAILED       receipt_signer") && warned.output.contains("\nwarning: "))
        }
    }

    @Test(
        "Evidence of real devices is explained",
        .enabled(if: SharedFiles.has(fixtures), Comment(rawValue: SharedFiles.absence)),
        arguments: [("attestations", 26), ("assertions", 7), ("receipts", 7)])
    func explainsReal(_ folder: String, _ checks: Int) async throws {
        let root = try #require(SharedFiles.root)
        let files = SharedFiles.list("\(Self.fixtures)/\(folder)", ending: ".json").map {
            root.appendingPathComponent($0).path
        }
        let result = try await AssayProcess(["verify", "app-attest", "--explain"] + files).result()
        #expect(result.status == 0)
        #expect(result.output.split(separator: "\n").count { $0.hasSuffix(" verified") } == files.count)
        #expect(
            result.output.split(separator: "\n").count { $0.hasPrefix("\(checks < 10 ? " " : "")\(checks)  ") }
                == files.count)
    }

    @Test("The help names the values that each member and option may have")
    func help() async throws {
        let help = try await AssayProcess.run("verify", "app-attest", "--help").output
        for text in [
            "attestation, assertion or receipt", "development or production", "`sha256(challenge)`",
            "2026-12-31T23:59:59Z",
            "PEM or DER", "key_id_hex", "--explain", "4294967295",
        ] { #expect(help.contains(text), "\(text)") }
    }
}
