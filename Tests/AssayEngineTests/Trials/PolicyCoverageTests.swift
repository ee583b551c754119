import AssayCore
import AssayEngine
import AssayPolicy
import AssayPolicyTools
import Foundation
import Testing

@Suite("What of policies tests look at")
struct PolicyCoverageTests {
    private static func coverage(_ tests: [String], of policy: String = PolicyTestFixture.policy) async throws
        -> PolicyCoverage
    {
        let lines = tests.enumerated().map { "- {name: \"\($0)\", app: \"1:1:ios:a\", \($1)}" }
        let text = "tests:\n" + lines.joined(separator: "\n")
        return try await PolicyTestFixture.tests(tests.isEmpty ? "tests: []" : text, of: policy)
            .run(findsDecisiveSettings: true).coverage
    }

    private static func uncovered(_ coverage: PolicyCoverage) -> [String] {
        coverage.items.filter { !$0.isCovered }.map { "\($0.location): \($0.kind) \($0.name) \($0.hits)/\($0.misses)" }
    }

    @Test("Without tests, nothing is covered, and everything has its place")
    func nothing() async throws {
        let coverage = try await Self.coverage([])
        #expect(
            Self.uncovered(coverage) == [
                "a.yaml:9:21: provider station of 1:1:ios:a 0/0", "a.yaml:17:42: provider station of 1:2:ios:b 0/0",
                "a.yaml:11:13: rule trial 0/0", "a.yaml:12:13: rule old 0/0", "a.yaml:13:13: rule new 0/0",
                "a.yaml:14:13: rule rest 0/0", "a.yaml:11:34: condition trial: degrees 0/0",
                "a.yaml:12:32: condition old: version 0/0", "a.yaml:12:57: condition old: sky 0/0",
                "a.yaml:13:32: condition new: age 0/0",
            ])
        #expect(coverage.percent == 0)
        // Two ways for each rule but the last, and for each condition; one for each provider and for the last rule.
        #expect(coverage.ways.all == 2 + 3 * 2 + 1 + 4 * 2)
    }

    @Test("A rule is covered by a test that matches it, and one that comes to it and does not")
    func rules() async throws {
        let accepted = "expect: {verdict: accepted}"
        let coverage = try await Self.coverage([
            // The rule that decides hides those after it.
            "facts: {version: \"1\", sky: clear, age: 5m}, \(accepted)",
            "facts: {version: \"1\", sky: cloudy, degrees: 31}, \(accepted)",
        ])
        let counts = coverage.items.filter { $0.kind == .rule || $0.kind == .condition }
            .map { "\($0.name) \($0.hits)/\($0.misses)" }
        #expect(
            counts == [
                "trial 1/1", "old 1/1", "new 0/1", "rest 1/0", "trial: degrees 1/1", "old: version 2/0", "old: sky 1/1",
                "new: age 0/1",
            ])
        #expect(coverage.items.filter(\.isCovered).map(\.name).contains("rest"))
        #expect(coverage.ways(of: .rule).seen == 6)
        #expect(coverage.ways(of: .condition).seen == 6)
        #expect(coverage.ways(of: .provider).seen == 1)
        #expect(coverage.percent == 13 * 100 / 17)
    }

    @Test("All is covered when each way was seen")
    func everything() async throws {
        let policy = PolicyTestFixture.policy.replacingOccurrences(of: "{station: {}}", with: "{}")
        let accepted = "expect: {verdict: accepted}"
        let coverage = try await Self.coverage(
            [
                "facts: {version: \"1\", sky: clear}, expect: {verdict: refused}",
                "facts: {version: \"3\", degrees: 31}, \(accepted)", "facts: {age: 5m}, \(accepted)",
            ], of: policy)
        #expect(Self.uncovered(coverage) == [])
        #expect(coverage.percent == 100)
    }

    @Test("A device that a rule refuses counts for the rules, and an app without providers has none to look at")
    func refusedDevices() async throws {
        let policy = PolicyTestFixture.policy.replacing(
            "apps: [{id: \"1:2:ios:b\", providers: {station: {}}}]",
            with: "apps: [{id: \"1:2:ios:b\", rules: [{name: idle, then: mark}]}]")
        #expect(policy != PolicyTestFixture.policy)
        let coverage = try await Self.coverage(
            ["device: {version: \"1.9\", sky: clear}, expect: {verdict: refused, rule: old}"], of: policy)
        let rules = coverage.items.filter { $0.kind == .rule }.map { "\($0.name) \($0.hits)/\($0.misses)" }
        #expect(rules == ["trial 0/1", "old 1/0", "new 0/0", "rest 0/0"])
    }

    @Test("A rule that apps share by a profile is one, whichever app a test is about")
    func profile() async throws {
        let policy = """
            profiles:
              common: {providers: {station: {}}, rules: [{name: cold, when: {degrees: {below: 0}}, then: refuse}]}
            projects:
              - number: 1
                id: example
                apps: [{id: "1:1:ios:a", profile: common}, {id: "1:1:ios:b", profile: common}]
            """
        let tests = try PolicyTestFixture.tests(
            """
            tests:
              - {name: a, app: "1:1:ios:a", facts: {degrees: -1}, expect: {verdict: refused}}
              - {name: b, app: "1:1:ios:b", facts: {degrees: 1}, expect: {verdict: accepted}}
            """, of: policy)
        let coverage = try await tests.run().coverage
        #expect(
            coverage.items.map { "\($0.kind) \($0.hits)/\($0.misses)" } == [
                "provider 1/0", "provider 1/0", "rule 1/1", "condition 1/1",
            ])
    }

    @Test("A setting matters if a test with a device ends otherwise without it")
    func settings() async throws {
        let coverage = try await Self.coverage(["device: {degrees: -6}, expect: {verdict: refused}"])
        let settings = coverage.items.filter { $0.kind == .setting }
        #expect(
            settings.map { "\($0.name) \($0.location) \($0.isCovered)" } == [
                "coldest of station a.yaml:9:31 true", "key of station a.yaml:9:59 false",
            ])
        let other = try await Self.coverage(["device: {degrees: 6}, expect: {verdict: accepted}"])
        #expect(other.items.filter { $0.kind == .setting }.allSatisfy { !$0.isCovered })
        // Whether a setting matters does not count.
        #expect(coverage.ways.all == other.ways.all)
    }
}
