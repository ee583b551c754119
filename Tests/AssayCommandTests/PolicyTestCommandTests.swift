import AssayCore
import AssayEngine
import AssayPolicy
import AssayStandard
import AssayTestSupport
import AssayYAML
import Foundation
import Testing

@testable import AssayCommand

@Suite("assay policy test")
struct PolicyTestCommandTests {
    private static let policy = """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers: {app_attest: {}}
                rules:
                  - {name: old-ios, when: {os_version: {below: "26.2"}}, then: refuse}
        """

    private static let tests = """
        defaults: {app: "1:1234567890:ios:321abc456def7890"}
        tests:
          - name: old systems are refused
            facts: {os_version: "26.1"}
            expect: {verdict: refused, rule: old-ios}
          - name: new systems are accepted
            facts: {os_version: "26.2"}
            expect: {verdict: accepted}
        """

    /// Runs the command in a folder with these files in its folder `policies`.
    private func run(
        _ arguments: String..., policy: String = policy, tests: String? = tests, others: [String: String] = [:]
    ) async throws -> AssayProcess.Result {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            var files = others
            files["apps.yaml"] = policy
            files["apps_test.yaml"] = tests
            for (name, text) in files { try Data(text.utf8).write(to: policies.appendingPathComponent(name)) }
            return try await AssayProcess(["policy", "test"] + arguments, folder: folder).result()
        }
    }

    @Test("The tests of the example policies pass, and look at all of them")
    func examples() async throws {
        let folder = repository.appendingPathComponent("policies").path
        let result = try await AssayProcess.run("policy", "test", folder, "--coverage-at-least", "100")
        #expect(result.output == "14 passed\n")
        #expect(result.errors == "")
        #expect(result.status == 0)
    }

    @Test("The example of the documentation is good, and passes")
    func documentation() async throws {
        let article = repository.appendingPathComponent("Sources/AssayEngine/AssayEngine.docc/TryPolicies.md")
        let section = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "\n## ")
            .first { $0.hasPrefix("Test policies") }
        let blocks = (section ?? "").components(separatedBy: "```yaml\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(blocks.count == 2)
        let record = """
            {"decision":"01KBH5M6T0QJ2W7Z9S4C8D1E3F","method":"exchangeAppAttestAssertion","resource":"projects/1234567890/apps/1:1234567890:ios:321abc456def7890",\
            "outcome":"refused","provider":"app_attest","reason":"rule_refused","facts":{"os_version":"26.0"}}
            """
        let result = try await run(
            policy: blocks.first ?? "", tests: blocks.last ?? "", others: ["recorded.ndjson": record])
        #expect(result.output == "8 passed\n")
        #expect(result.status == 0, "\(result.errors)")
        // What the article shows is the whole output.
        let changed = (blocks.first ?? "").replacingOccurrences(of: "below: \"26.2\"", with: "below: \"26.1\"")
        let failed = try await run(policy: changed, tests: blocks.last ?? "", others: ["recorded.ndjson": record])
        #expect(failed.status == 1)
        #expect(failed.output.hasPrefix("FAILED   old systems are refused\n"))
        #expect((section ?? "").contains("```\n\(failed.output)```\n"))
    }

    @Test("It prints the numbers, and with --verbose a line for each test")
    func passed() async throws {
        let quiet = try await run()
        #expect(quiet.status == 0)
        #expect(quiet.output == "2 passed\n")
        let verbose = try await run("--verbose")
        #expect(
            verbose.output == """
                ok       old systems are refused (refused by rule_refused, rule old-ios)
                ok       new systems are accepted (accepted)
                2 passed

                """)
    }

    @Test("A failure is shown at the place of the expectation, with what decided")
    func failed() async throws {
        let result = try await run(policy: Self.policy.replacingOccurrences(of: "below", with: "above"))
        #expect(result.status == 1)
        #expect(
            result.output == """
                FAILED   old systems are refused
                policies/apps_test.yaml:5:23: tests[0].expect.verdict: expected `refused`, found `accepted`
                  |     expect: {verdict: refused, rule: old-ios}
                  |                       ^
                policies/apps_test.yaml:5:38: tests[0].expect.rule: expected `old-ios`, found none
                  the rule does not match, because of `os_version` at policies/apps.yaml:9:36
                  |     expect: {verdict: refused, rule: old-ios}
                  |                                      ^
                  no rule matched
                1 passed, 1 failed

                """)
    }

    @Test("As JSON, each test is a line, and the numbers are the last one")
    func json() async throws {
        let result = try await run(
            "--format", "json", "--coverage", policy: Self.policy.replacingOccurrences(of: "26.2", with: "26.3"))
        #expect(result.status == 1)
        let lines = try result.lines.map { try JSON.parse(Array($0.utf8)) }
        #expect(lines.compactMap { $0["test"]?.string } == ["old systems are refused", "new systems are accepted"])
        #expect(lines.first?["result"] == "passed")
        #expect(lines.first?["found"]?["rule_location"] == "policies/apps.yaml:9:13")
        #expect(lines.first?["failures"] == [])
        let failed = lines.first { $0["result"] == "failed" }
        #expect(failed?["form"] == "facts")
        #expect(failed?["line"] == 6)
        let failure = failed?["failures"]?.array?.first
        #expect(failure?["path"] == "tests[1].expect.verdict")
        #expect(failure?["message"] == "expected `accepted`, found `refused`")
        #expect(failure?["line"] == 8)
        #expect(failed?["found"]?["verdict"] == "refused")
        #expect(lines.compactMap { $0["coverage"]?["kind"]?.string } == ["provider", "rule", "condition"])
        #expect(
            lines.last?["summary"] == [
                "passed": 1, "failed": 1, "not_run": 0,
                "coverage": [
                    "percent": 60, "providers": ["seen": 1, "all": 1], "rules": ["seen": 1, "all": 2],
                    "conditions": ["seen": 1, "all": 2], "settings": ["seen": 0, "all": 0],
                ],
            ])
    }

    @Test("What no test looks at is listed with its place, and too little fails")
    func coverage() async throws {
        let result = try await run("--coverage", "--coverage-at-least", "61", "--filter", "old")
        #expect(
            result.output == """
                covered: 60 % (3 of 5): providers 1 of 1, rules 1 of 2, conditions 1 of 2
                  policies/apps.yaml:9:13: every test matches the rule `old-ios`
                  policies/apps.yaml:9:36: the condition `old-ios: os_version` holds in every test
                1 passed

                """)
        #expect(result.errors == "assay: 60 % are covered, less than 61 %\n")
        #expect(result.status == 1)
        #expect(try await run("--coverage-at-least", "60", "--filter", "old").status == 0)
        #expect(try await run("--coverage-at-least", "100").status == 0)
        #expect(try await run("--coverage-at-least", "101").status == 2)
    }

    @Test("Wrong policies, wrong tests and no tests are no results")
    func couldNotRun() async throws {
        let tests = try await run(
            tests: Self.tests.replacingOccurrences(of: "facts: {os_version", with: "facts: {os_versoin"))
        #expect(tests.status == 2)
        #expect(tests.output == "")
        #expect(
            tests.errors.hasPrefix(
                """
                policies/apps_test.yaml:4:13: tests[0].facts.os_versoin: the provider `app_attest` has no fact `os_versoin`
                  did you mean `os_version`?

                """))
        let policy = try await run(
            "--format", "json",
            policy: Self.policy.replacingOccurrences(of: "{app_attest: {}}", with: "{app_atest: {}}"))
        #expect(policy.status == 2)
        #expect(policy.lines.count == 1)
        #expect(policy.lines.first?.contains("\"message\":\"unknown provider `app_atest`\"") == true)
        let none = try await run(tests: nil)
        #expect(none.status == 2)
        #expect(none.errors == "assay: policies has no tests: no file that ends in _test.yaml\n")
        let filtered = try await run("--filter", "nothing")
        #expect(filtered.status == 2)
        #expect(filtered.errors == "assay: no test has 'nothing' in its name\n")
    }

    @Test("A secret that is missing, and one that could be read, are the same to tests")
    func secrets() async throws {
        let policy = Self.policy.replacingOccurrences(
            of: "{app_attest: {}}",
            with: """
                {app_attest: {risk_metric: {key_id: ABC123DEFG, private_key: "file:/nowhere/key.p8"}}, \
                device_check: {key_id: ABC123DEFG, private_key: "env:NOBODY_SETS_THIS", refuse_when: {bit0: true}}}
                """)
        let tests = """
            defaults: {app: "1:1234567890:ios:321abc456def7890"}
            tests:
              - {name: a, provider: app_attest, device: {}, expect: {verdict: accepted}}
              - {name: b, provider: device_check, device: {}, expect: {verdict: accepted}}
              - {name: c, provider: device_check, device: {bit0: true}, expect: {verdict: refused, reason: device_token_bits_refused}}
            """
        let result = try await run(policy: policy, tests: tests)
        #expect(result.output == "3 passed\n")
        #expect(result.status == 0)
    }

    @Test("A misspelled backend is no refusal that a test may expect")
    func backend() async throws {
        let policy = """
            projects: [{number: 1, id: one, consumers: {custom_backend: {backends: {orders: {}, stock: {}}}}}]
            """
        let tests = """
            tests:
              - {name: a, request: GET /, backend: orders, expect: {verdict: refused}}
              - {name: b, request: GET /, backend: order, expect: {verdict: refused}}
            """
        let result = try await run(policy: policy, tests: tests)
        #expect(result.output.contains("no custom_backend has the name 'order'; did you mean `orders`?"), "\(result)")
        #expect(result.output.contains("1 passed, 1 not run"))
        #expect(result.status == 2)
    }

    @Test("A program with a plugin of its own tests the facts of the plugin, and says that it has no devices of it")
    func otherProgram() async throws {
        let policies = repository.appendingPathComponent("Tests/Examples/CustomServer/policies")
        try await withTemporaryFolder { folder in
            let copy = folder.appendingPathComponent("policies")
            try FileManager.default.copyItem(at: policies, to: copy)
            let app = "1:1234567890:android:321abc456def7890"
            let text = """
                defaults: {app: "\(app)", provider: till}
                tests:
                  - {name: facts, facts: {till: first}, expect: {verdict: accepted}}
                  - {name: device, device: {till: first}, expect: {verdict: accepted}}
                """
            try Data(text.utf8).write(to: copy.appendingPathComponent("till_test.yaml"))
            let result = try await AssayProcess(["policy", "test"], of: "till-server", folder: folder).result()
            #expect(
                result.output == """
                    NOT RUN  device
                    policies/till_test.yaml:4:5: this program has no simulated devices of the provider `till`
                    1 passed, 1 not run

                    """)
            #expect(result.status == 2)
        }
    }

    // MARK: - The schema

    @Test("The schema in the folder of policies is what the command prints, and the example is good by it")
    func schema() async throws {
        let printed = try await AssayProcess.run("policy", "schema", "--tests")
        let folder = repository.appendingPathComponent("policies")
        #expect(
            try String(contentsOf: folder.appendingPathComponent("assay-policy-tests.schema.json"), encoding: .utf8)
                == printed.output,
            "write it anew: assay policy schema --tests > policies/assay-policy-tests.schema.json")
        let limits = JSON.Limits(bytes: 4 << 20, depth: 64, values: 100_000, allowsRepeatedNames: false)
        let validator = SchemaValidator(root: try JSON.parse(Array(printed.output.utf8), limits: limits))
        let file = try #require(try PolicyDirectory(folder.path).testFiles().first)
        let example = try YAMLDocument.parse(file.bytes, file: file.name).json
        #expect(validator.accepts(example, by: validator.root))
        for (old, new) in [
            ("verdict: refused", "verdict: denied"), ("os_version: \"16", "os_versoin: \"16"),
            ("key_age: 59m", "key_age: 59"),
            ("name: old systems are refused", "title: x"), ("environment: development", "environment: staging"),
            ("counter: replay", "counter: back"), ("permission: allowed", "permission: yes"),
        ] {
            let text = String(decoding: file.bytes, as: UTF8.self)
            let changed = text.replacingOccurrences(of: old, with: new)
            #expect(changed != text)
            let wrong = try YAMLDocument.parse(Array(changed.utf8), file: file.name).json
            #expect(!validator.accepts(wrong, by: validator.root), "\(new)")
        }
    }
}
