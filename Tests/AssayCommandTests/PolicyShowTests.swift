import AssayCore
import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy show")
struct PolicyShowTests {
    private static let shared = """
        apple_teams:
          ABCDE12345: {device_check: {key_id: DCKEY12345, private_key: "file:/run/secrets/absent.p8"}}
        profiles:
          base: {token_ttl: 2h, providers: {app_attest: {receipts: required}}}
          ios:
            extends: base
            apple: {team_id: ABCDE12345}
            providers: {device_check: {}}
        """
    private static let apps = """
        projects:
          - number: 1
            id: example
            services: {orders.example.com: {enforcement: ENFORCED}}
            apps:
              - id: "1:1:ios:a"
                profile: ios
                name: "With: a colon"
                apple: {bundle_id: com.example.app}
                rules:
                  - {name: old, when: {os_version: {below: "26.2"}}, then: refuse}
              - {id: "1:1:ios:b", providers: {debug: {tokens: [{name: x, token: "env:ABSENT"}]}}}
            oauth_clients:
              - {id: client, app: "1:1:ios:a", rate_limit: {requests: 60}}
        """

    /// Runs the command over a folder with both files.
    private func show(_ arguments: String..., files: [String: String] = [:]) async throws -> AssayProcess.Result {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("p")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            let all = ["shared.yaml": Self.shared, "apps.yaml": Self.apps].merging(files) { $1 }
            for (name, text) in all { try Data(text.utf8).write(to: policies.appendingPathComponent(name)) }
            let process = try AssayProcess(["policy", "show"] + arguments + ["--policies", "p"], folder: folder)
            return await process.result()
        }
    }

    @Test("Each value has its place, the shared part that it is from, or is a default")
    func text() async throws {
        let result = try await show("1:1:ios:a")
        #expect(result.status == 0)
        #expect(result.errors == "")
        #expect(
            result.output == """
                projects:
                  - number: 1  # p/apps.yaml:2:13
                    id: example  # p/apps.yaml:3:9
                    stage: production  # default
                    apps:
                      - id: "1:1:ios:a"  # p/apps.yaml:6:13
                        name: "With: a colon"  # p/apps.yaml:8:15
                        apple:
                          team_id: ABCDE12345  # p/shared.yaml:7:22 profile ios
                          bundle_id: com.example.app  # p/apps.yaml:9:28
                        providers:
                          app_attest:
                            token_ttl: 2h  # p/shared.yaml:4:21 profile base
                            receipts: required  # p/shared.yaml:4:60 profile base
                            # environments: [production]  # default
                            # unreported_validation_category: allowed  # default
                            # key_in_tokens: false  # default
                          device_check:
                            token_ttl: 2h  # p/shared.yaml:4:21 profile base
                            key_id: DCKEY12345  # p/shared.yaml:2:39 apple_teams ABCDE12345
                            private_key: "file:/run/secrets/absent.p8"  # p/shared.yaml:2:64 apple_teams ABCDE12345
                            # environment: production  # default
                            # authorization: bearer  # default
                            # allow_reuse: false  # default
                        rate_limit: null  # default
                        rules:
                          - name: old  # p/apps.yaml:11:20
                            when:
                              os_version:
                                below: "26.2"  # p/apps.yaml:11:52
                            then: refuse  # p/apps.yaml:11:68

                """)
    }

    @Test("What is shown is a policy that means the same", arguments: ["1:1:ios:a", "1:1:ios:b"])
    func again(app: String) async throws {
        try await withTemporaryFolder { folder in
            let shown = try await show(app)
            for (name, text) in [("one", Self.shared + "\n" + Self.apps), ("two", shown.output)] {
                let policies = folder.appendingPathComponent(name)
                try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
                try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            }
            let diff = try await AssayProcess.run("policy", "diff", "one", "two", folder: folder)
            #expect(diff.errors == "")
            // Only what is not shown is missing.
            let lines = diff.lines.filter { line in
                !["removed", "profile", "warning: "].contains { line.contains($0) }
            }
            #expect(lines == [])
            #expect(!diff.output.contains("app projects/1/apps/\(app)"))
        }
    }

    /// Sections without keys of their own, odd names, and entries of the deny list.
    private static let odd = """
        deny:
          - {key_id: "\(String(repeating: "ab", count: 16))", note: 'a "quoted" # note'}
          - {jti: "x: y", app: "1:1:ios:a"}
          - {os_version: {below: "18", not_in: ["17.1", "17.2"]}}
          - {debug_token: lost}
          - {debug_token: found, app: client}
        projects:
          - number: 1
            id: example
            stage: development
            services: {a.example.com: {}, b.example.com: {enforcement: ENFORCED}}
            consumers: {custom_backend: {backends: {orders: {tokens: {limited_use: true}}}}}
            apps:
              - id: "1:1:ios:a"
                name: "#1"
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                rate_limit: {requests: 5}
                providers: {app_attest: {}, device_check: {key_id: DCKEY12345, private_key: "env:ABSENT"}}
                rules:
                  - {name: all, when: {}, then: mark}
              - {id: "1:1:ios:b", providers: {debug: {managed: {}, tokens: [{name: "two  spaces", token: "env:ABSENT"}]}}}
            oauth_clients:
              - {id: client, app: "1:1:ios:a", providers: {debug: {managed: {}}}}
        """

    @Test(
        "What is shown is in the layout of `policy fmt`",
        arguments: [shared + "\n" + apps, odd], [["--project"], []])
    func layout(text: String, options: [String]) async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("p")
            let shown = folder.appendingPathComponent("shown")
            for folder in [policies, shown] {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            for (index, app) in ["1:1:ios:a", "1:1:ios:b", "client"].enumerated() {
                let process = try AssayProcess(
                    ["policy", "show", app, "--policies", "p"] + options, folder: folder)
                let result = await process.result()
                #expect(result.status == 0, "\(result.errors)")
                try Data(result.output.utf8).write(to: shown.appendingPathComponent("\(index).yaml"))
            }
            let checked = try await AssayProcess.run("policy", "fmt", "--check", "shown", folder: folder)
            #expect(checked.status == 0 && checked.output == "", "\(checked.output)\(checked.errors)")
        }
    }

    @Test("The example policies are shown in the layout of `policy fmt`")
    func exampleLayout() async throws {
        let policies = repository.appendingPathComponent("policies").path
        try await withTemporaryFolder { folder in
            let result = try await AssayProcess.run(
                "policy", "show", "1:1234567890:ios:321abc456def7890", "--project", "--policies", policies,
                folder: folder)
            try Data(result.output.utf8).write(to: folder.appendingPathComponent("shown.yaml"))
            let checked = try await AssayProcess.run("policy", "fmt", "--check", "shown.yaml", folder: folder)
            #expect(checked.status == 0 && !result.output.isEmpty, "\(checked.output)\(checked.errors)")
        }
    }

    @Test("Entries of the deny list are shown if they can be about the app, and no others")
    func denials() async throws {
        let others = ["shared.yaml": "{}", "apps.yaml": Self.odd]
        let key = String(repeating: "ab", count: 16)
        let first = try await show("1:1:ios:a", files: others)
        #expect(first.status == 0, "\(first.errors)")
        let start = try #require(first.lines.firstIndex(of: "deny:"))
        #expect(
            first.lines[start...].map(\.self) == [
                "deny:", "  - key_id: \(key)  # p/apps.yaml:2:14",
                "    note: \"a \\\"quoted\\\" # note\"  # p/apps.yaml:2:56", "  - jti: \"x: y\"  # p/apps.yaml:3:11",
                "    app: \"1:1:ios:a\"  # p/apps.yaml:3:24", "  - os_version:",
                "      below: \"18\"  # p/apps.yaml:4:26", "      not_in:",
                "        - \"17.1\"  # p/apps.yaml:4:41", "        - \"17.2\"  # p/apps.yaml:4:49",
            ])
        let second = try await show("1:1:ios:b", files: others)
        #expect(second.lines.suffix(2) == ["deny:", "  - debug_token: lost  # p/apps.yaml:5:19"])
        #expect(try await show("1:1:ios:a").lines.contains("deny:") == false)
    }

    @Test("An OAuth client has the providers of its app, and its own rate limit")
    func client() async throws {
        let result = try await show("oauthClients/client")
        #expect(result.status == 0)
        #expect(
            result.lines.suffix(4) == [
                "        rate_limit:", "          requests: 60  # p/apps.yaml:14:63",
                "          interval: 1m  # default",
                "          burst: 60  # default",
            ])
        #expect(result.lines.contains("      - id: client  # p/apps.yaml:14:14"))
        #expect(result.lines.contains("            receipts: required  # p/shared.yaml:4:60 profile base"))
    }

    @Test("With --project, the settings of the project are shown, too")
    func project() async throws {
        let result = try await show("projects/example/apps/1:1:ios:b", "--project")
        #expect(result.lines.contains("    issuer: https://firebaseappcheck.googleapis.com/  # default"))
        #expect(result.lines.contains("        enforcement: ENFORCED  # p/apps.yaml:4:50"))
        #expect(result.lines.contains("        replay_protection: OFF  # default"))
        #expect(result.lines.contains("    consumers: {}  # default"))
        #expect(result.lines.contains("                token: \"env:ABSENT\"  # p/apps.yaml:12:73"))
    }

    @Test("For programs, each value is an object")
    func json() async throws {
        let result = try await show("1:1:ios:a", "--format", "json")
        let all = try #require(try JSON.parse(Array(result.output.utf8)).array)
        #expect(all.count == 22)
        let found = all.first { $0["path"]?.string == "projects[0].apps[0].apple.team_id" }
        #expect(
            found
                == [
                    "path": "projects[0].apps[0].apple.team_id", "value": "ABCDE12345", "file": "p/shared.yaml",
                    "line": 7, "column": 22, "origin": "profile ios",
                ])
        let limit = all.first { $0["path"]?.string == "projects[0].apps[0].rate_limit" }
        #expect(limit?["origin"] == "default" && limit?["value"] == JSON.null && limit?["line"] == JSON.null)
        #expect(all.first?["value"] == 1 && all.first?["origin"] == "stated")
    }

    @Test("Without an app, all are listed")
    func list() async throws {
        let result = try await show()
        #expect(
            result.lines == [
                "projects/1/apps/1:1:ios:a: profile ios; app_attest, device_check; production",
                "projects/1/apps/1:1:ios:b: debug; production",
                "oauthClients/client: profile ios; app projects/1/apps/1:1:ios:a; app_attest, device_check; production",
            ])
    }

    @Test("An unknown app is refused, and policies with errors are not shown")
    func failures() async throws {
        let unknown = try await show("1:1:ios:aa")
        #expect(unknown.status == 1)
        #expect(
            unknown.errors.contains("no policy in p has the app or OAuth client `1:1:ios:aa`; did you mean `1:1:ios:"))
        let wrong = try await show("1:1:ios:a", files: ["wrong.yaml": "projects: [{number: 2, id: b, appps: []}]"])
        #expect(wrong.status == 2)
        #expect(wrong.output == "")
        #expect(wrong.errors.contains("p/wrong.yaml:1:31: projects[0].appps: unknown key `appps`"))
    }
}
