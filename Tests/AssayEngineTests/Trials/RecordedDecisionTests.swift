import AssayCore
import AssayEngine
import AssayPolicy
import AssayPolicyTools
import AssayYAML
import Foundation
import Testing

@Suite("Tests of recorded decisions")
struct RecordedDecisionTests {
    private static let records = """
        {"time":"2026-11-20T09:00:00.000Z","decision":"01A","method":"exchangeReport","resource":"projects/1/apps/1:1:ios:a","outcome":"refused","duration_ms":1,"provider":"station","reason":"rule_refused","facts":{"version":"1.9","sky":"clear","age":"90s","degrees":31,"elsewhere":true}}
        {"decision":"01B","method":"exchangeReport","resource":"projects/1/apps/1:1:ios:a","outcome":"refused","provider":"station","reason":"report_cold","facts":{"degrees":-9}}
        {"decision":"01C","method":"exchangeReport","resource":"projects/1/apps/1:1:ios:a","outcome":"issued","provider":"station","facts":{"version":"2.1"}}
        {"decision":"01D","method":"exchangeReport","resource":"projects/1/apps/1:1:ios:a","outcome":"challenged","provider":"station"}
        {"decision":"01E","method":"exchangeReport","resource":"projects/9/apps/1:9:ios:a","outcome":"issued","provider":"station"}
        {"decision":"01F","method":"exchangeReport","resource":"projects/1/apps/1:1:ios:a","outcome":"issued","provider":"moon"}
        {"decision":"01G","method":"exchangeReport","resource":"projects/1/apps/1:1:ios:a","outcome":"refused","provider":"station","reason":"unheard_of"}
        {"decision":"01H","method":"exchangeReport","resource":"projects/1/apps/1:1:ios:a","outcome":"issued","provider":"station","facts":{"degrees":"warm"}}
        {"decision":"01I" half a line
        {"outcome":"summed","groups":[{"subject":"01J"}]}

        """

    private static func test(_ id: String, _ expectation: String, record: String = "audit.ndjson") -> String {
        "tests: [{name: a, decision: {record: \(record), id: \(id)}, expect: {\(expectation)}}]"
    }

    /// Runs a body with the path of a file with tests, beside which the records are.
    private func withRecords(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.records.utf8).write(to: folder.appendingPathComponent("audit.ndjson"))
        try await body(folder.appendingPathComponent("a_test.yaml").path)
    }

    @Test(
        "The facts of a decision are judged again; what was refused before rules were asked stays refused",
        arguments: [
            ("01A", "verdict: refused, reason: rule_refused, rule: old, would_refuse: [trial]"),
            ("01B", "verdict: refused, reason: report_cold, rule: null"),
            ("01C", "verdict: accepted, rule: rest, token: {ttl: 2h}"),
        ])
    func judged(id: String, expectation: String) async throws {
        try await withRecords { file in
            let report = try await PolicyTestFixture.tests(Self.test(id, expectation), file: file).run()
            #expect(report.results.map(\.words) == ["passed"])
        }
    }

    @Test(
        "Whatever is changed in the rules, a test of a decision fails",
        arguments: [
            ("01A", "verdict: refused, rule: old", "{name: old,", "{name: older,"),
            ("01A", "verdict: refused, rule: old", "below: \"2.0\"", "at_least: \"2.0\""),
            ("01A", "verdict: refused, rule: old", "sky: clear", "sky: cloudy"),
            ("01C", "verdict: accepted", "below: \"2.0\"}, sky: clear", "below: \"3.0\"}"),
        ])
    func mutations(id: String, expectation: String, old: String, new: String) async throws {
        try await withRecords { file in
            let text = Self.test(id, expectation)
            let before = try await PolicyTestFixture.tests(text, file: file).run()
            #expect(before.failed == 0)
            let changed = PolicyTestFixture.policy.replacingOccurrences(of: old, with: new)
            #expect(changed != PolicyTestFixture.policy)
            let after = try await PolicyTestFixture.tests(text, of: changed, file: file).run()
            #expect(after.failed == 1)
        }
    }

    @Test(
        "A decision that cannot be judged again is refused at its place",
        arguments: [
            ("01D", "audit.ndjson", "the decision was not about evidence: its outcome is `challenged`"),
            ("01E", "audit.ndjson", "the decision was about an app that the policies do not have"),
            ("01F", "audit.ndjson", "the decision was about evidence of a provider that the app does not have"),
            ("01G", "audit.ndjson", "the decision has a reason that this program does not know"),
            ("01H", "audit.ndjson", "the fact `degrees` of the decision is not a whole number"),
            ("01I", "audit.ndjson", "the file has no decision `01I`"),
            ("01J", "audit.ndjson", "the file has no decision `01J`"),
            ("01K", "audit.ndjson", "the file has no decision `01K`"),
            ("\"01A\\\"\"", "audit.ndjson", "expected the identifier of a decision"),
            ("01A", "none.ndjson", "none.ndjson: No such file or directory"),
            ("01A", ".", ".: is not a regular file"),
        ])
    func wrong(id: String, record: String, message: String) async throws {
        try await withRecords { file in
            let text = Self.test(id, "verdict: accepted", record: record)
            let problems = try #require(throws: Diagnostics.self) {
                _ = try PolicyTestFixture.tests(text, file: file)
            }
            #expect(problems.all.map(\.message) == [message])
        }
    }

    @Test("A large file of records is read once, and one that is too large not at all")
    func large() async throws {
        try await withRecords { file in
            let path = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("audit.ndjson")
                .path
            let line = "{\"decision\":\"02\",\"detail\":\"\(String(repeating: "x", count: 5000))\"}\n"
            let records = String(repeating: line, count: 4_000) + Self.records
            try Data(records.utf8).write(to: URL(fileURLWithPath: path))
            let tests = (0..<20).map {
                "- {name: \"\($0)\", decision: {record: audit.ndjson, id: 01A}, expect: {verdict: refused}}"
            }
            let text = "tests:\n" + tests.joined(separator: "\n")
            let report = try await PolicyTestFixture.tests(text, file: file).run()
            #expect(report.passed == 20)
            #expect(truncate(path, 65 << 20) == 0)
            let problems = try #require(throws: Diagnostics.self) {
                _ = try PolicyTestFixture.tests(text, file: file)
            }
            #expect(problems.all.first?.message == "audit.ndjson: the file is larger than 64 MiB")
        }
    }
}
