import AssayCore
import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy diff")
struct PolicyDiffTests {
    private static let old = """
        callers:
          backend: {sha256: "\(String(repeating: "0f", count: 32))", permissions: [tokens.mint]}
        projects:
          - number: 1
            id: example
            stage: development
            apps:
              - id: "1:1:ios:a"
                providers: {debug: {tokens: [{name: x, token: "env:ABSENT"}]}}
        """

    /// Runs the command over two folders with one file each.
    private func diff(
        _ new: String, _ arguments: String..., records: [String: Data] = [:]
    ) async throws -> AssayProcess.Result {
        try await withTemporaryFolder { folder in
            for (name, text) in [("old", Self.old), ("new", new)] {
                let policies = folder.appendingPathComponent(name)
                try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
                try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            }
            for (name, bytes) in records { try bytes.write(to: folder.appendingPathComponent(name)) }
            let process = try AssayProcess(["policy", "diff", "old", "new"] + arguments, folder: folder)
            return await process.result()
        }
    }

    @Test("The same policies in other words make no difference")
    func same() async throws {
        let result = try await diff(
            """
            profiles: {test: {providers: {debug: {tokens: [{token: "env:ABSENT", name: x}]}}}}
            \(Self.old.replacing(#"providers: {debug: {tokens: [{name: x, token: "env:ABSENT"}]}}"#, with: "profile: test"))
            """)
        #expect(result.output == "no difference\n")
        #expect(result.status == 0 && result.errors == "")
    }

    @Test("Differences, methods and the sum are said, as text and for programs")
    func different() async throws {
        let new = Self.old.replacing("tokens.mint", with: "admin").replacing(
            "providers: {debug:",
            with: "apple: {team_id: ABCDE12345, bundle_id: com.example.app}\n        providers: {app_attest: {}, debug:"
        )
        let result = try await diff(new)
        #expect(result.status == 1)
        #expect(
            result.lines == [
                "caller backend: permissions: removed tokens.mint (old/a.yaml:2:103)",
                "caller backend: permissions: added admin (new/a.yaml:2:103)",
                "app projects/1/apps/1:1:ios:a: providers.app_attest: added {token_ttl: 1h} (new/a.yaml:10:33)",
                "app projects/1/apps/1:1:ios:a: apple: added {team_id: ABCDE12345, bundle_id: com.example.app} (new/a.yaml:9:16)",
                "projects/1/apps/1:1:ios:a: methods added: exchangeAppAttestAssertion, exchangeAppAttestAttestation, generateAppAttestChallenge, getAppAttestConfig, updateAppAttestConfig",
                "callers 1 changed; apps 1 changed",
            ])
        let lines = try await diff(new, "--format", "json").lines.map { try JSON.parse(Array($0.utf8)) }
        #expect(lines.count == 6)
        #expect(lines.first?["path"] == "permissions" && lines.first?["old"] == "tokens.mint")
        #expect(lines.last?["summary"]?["caller"] == ["added": 0, "removed": 0, "changed": 1])
    }

    @Test("Policies with errors cannot be compared")
    func wrong() async throws {
        let result = try await diff("projects: [")
        #expect(result.status == 2 && result.output == "")
        #expect(result.errors.contains("assay: the policies in new have errors: see `assay policy check new`"))
    }

    private static func record(_ number: Int, _ rest: String) -> String {
        #"{"time":"2026-11-24T08:00:00.000Z","decision":"D\#(number)","method":"exchangeDebugToken","resource":"projects/1/apps/1:1:ios:a","#
            + rest
            + "}\n"
    }

    @Test("Recorded decisions are tried, also from compressed files, and counted exactly")
    func records() async throws {
        let issued = (1...7).map { Self.record($0, #""outcome":"issued","provider":"debug""#) }.joined()
        let others =
            Self.record(8, #""outcome":"refused","provider":"debug","reason":"debug_token_unknown""#) + "{\n"
            + #"{"time":"x","event":"policies_changed"}"# + "\n" + #"{"outcome":"summed","count":40,"groups":[]}"#
        let gzip = try Self.gzip(Data(issued.utf8))
        let new = Self.old.replacing("debug: {tokens", with: "other: {tokens").replacing(
            #"providers: {other: {tokens: [{name: x, token: "env:ABSENT"}]}}"#, with: "providers: {}")
        // The compressed file is two files one after the other.
        let files = ["a.ndjson": Data(others.utf8), "b.gz": gzip + gzip, "cut.gz": gzip.dropLast(9)]
        let result = try await diff(new, "--against", "a.ndjson", "b.gz", records: files)
        #expect(result.errors == "")
        #expect(
            result.lines.suffix(6) == [
                "projects/1/apps/1:1:ios:a exchangeDebugToken: issued -> rejected FAILED_PRECONDITION: 14, such as D1, D2, D3, D4, D5",
                "projects/1/apps/1:1:ios:a exchangeDebugToken: refused debug_token_unknown -> rejected FAILED_PRECONDITION: 1, such as D8",
                "15 recorded decisions: 0 the same, 15 different", "1 sum of 40 decisions was passed over",
                "1 change of the service was passed over", "1 malformed line, at a.ndjson:2",
            ])
        let json = try await diff(new, "--format", "json", "--against", "b.gz", records: files).lines
        #expect(
            json.suffix(2).first
                == #"{"resource":"projects/1/apps/1:1:ios:a","method":"exchangeDebugToken","old_outcome":"issued","new_outcome":"rejected FAILED_PRECONDITION","rule":null,"count":14,"examples":["D1","D2","D3","D4","D5"]}"#
        )
        let long = Data(String(repeating: "x", count: 2 << 20).utf8) + Data("\n\r\n".utf8) + Data(issued.utf8)
        let skipped = try await diff(new, "--against", "long", records: ["long": long])
        #expect(skipped.lines.last == "1 malformed line, at long:1")
        #expect(skipped.lines.contains("7 recorded decisions: 0 the same, 7 different"))
        for (name, text) in [
            ("cut.gz", "cut.gz: the gzip data is cut off"), ("none", "no audit file none"),
        ] {
            let broken = try await diff(new, "--against", name, records: files)
            #expect(broken.status == 2 && broken.errors.contains(text))
        }
    }

    private static func gzip(_ data: Data) throws -> Data {
        let (process, input, output) = (ChildProcess(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/gzip")
        process.arguments = ["-c"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: data)
        try input.fileHandleForWriting.close()
        return output.fileHandleForReading.readDataToEndOfFile()
    }
}
