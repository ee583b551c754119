import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy check for editors")
struct PolicyReportTests {
    private func check(
        _ files: [String: String], _ arguments: String...
    ) async throws -> (result: AssayProcess.Result, lines: [JSON]) {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            for (name, text) in files { try Data(text.utf8).write(to: policies.appendingPathComponent(name)) }
            let process = try AssayProcess(["policy", "check"] + arguments, folder: folder)
            let result = await process.result()
            return (result, try result.lines.compactMap { $0.hasPrefix("{") ? try JSON.parse(Array($0.utf8)) : nil })
        }
    }

    @Test("One object a line tells place, path, words and related places, and the last one counts")
    func json() async throws {
        let (result, lines) = try await check(
            [
                "a.yaml": "version: 1\nversion: 1\n",
                "b.yaml": """
                projects:
                  - number: 1
                    id: größe
                    apps:
                      - id: 1:2:ios:a
                        token_tll: 1h
                """,
            ], "--format", "json")
        #expect(result.status == 1)
        #expect(result.errors.isEmpty)
        #expect(
            lines == [
                [
                    "severity": "error", "file": "policies/a.yaml", "line": 2, "column": 1, "end_line": 2,
                    "end_column": 11, "path": "version", "message": "duplicate key `version`", "hint": nil,
                    "related": [
                        ["file": "policies/a.yaml", "line": 1, "column": 1, "message": "first defined here"]
                    ],
                ],
                [
                    "severity": "error", "file": "policies/b.yaml", "line": 3, "column": 9, "end_line": 3,
                    "end_column": 14, "path": "projects[0].id",
                    "message": "expected a project ID such as example-project",
                    "hint": "not ASCII: U+00F6, U+00DF", "related": [],
                ],
                [
                    "severity": "warning", "file": "policies/b.yaml", "line": 5, "column": 9, "end_line": 5,
                    "end_column": 22, "path": "projects[0].apps[0]",
                    "message": "the app has no providers: every call for it will be refused", "hint": nil,
                    "related": [],
                ],
                [
                    "severity": "error", "file": "policies/b.yaml", "line": 6, "column": 9, "end_line": 6,
                    "end_column": 18, "path": "projects[0].apps[0].token_tll", "message": "unknown key `token_tll`",
                    "hint": "did you mean `token_ttl`?", "related": [],
                ],
                ["summary": ["errors": 3, "warnings": 1, "omitted": 0, "apps": 1, "oauth_clients": 0]],
            ], "\(result.output)")
    }

    @Test("Good policies with a warning exit with 0, in either format")
    func warnings() async throws {
        let files = ["a.yaml": "projects: [{number: 1, id: a, apps: [{id: '1:2:ios:a', providers: {debug: {}}}]}]"]
        let text = try await check(files).result
        #expect(text.status == 0)
        #expect(text.output == "policies: 1 app and 0 OAuth clients, good, with 1 warning\n")
        #expect(text.errors.hasPrefix("policies/a.yaml:1:43: warning: projects[0].apps[0].id: the app ID is one of"))
        let (json, lines) = try await check(files, "--format", "json")
        #expect(json.status == 0)
        #expect(lines.map { $0["severity"]?.string } == ["warning", nil])
        #expect(lines.last?["summary"]?["errors"] == 0)
    }

    @Test("A folder that is not there is a problem without a line")
    func missing() async throws {
        let (result, lines) = try await check([:], "nowhere", "--format", "json")
        #expect(result.status == 1)
        #expect(lines.first?["file"] == "nowhere")
        #expect(lines.first?["line"] == .null)
        #expect(lines.first?["message"] == "No such file or directory")
    }

    @Test("The text ends with the number of errors and warnings, and no secret is in it")
    func text() async throws {
        let (result, _) = try await check([
            "a.yaml": """
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                    providers:
                      debug:
                        tokens: [{name: mine, sha256: 6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10}]
                        token_ttl: 5m
            """
        ])
        #expect(result.status == 1)
        #expect(!(result.errors + result.output).contains("6B4E1D0C"))
        #expect(result.errors.contains("  |             tokens: [{name: mine, sha256: ***\n"))
        #expect(result.errors.hasSuffix("policies: 2 errors\n"))
        #expect(try await check([:], "--format", "xml").result.status == 2)
    }
}
