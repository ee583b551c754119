import AssayCore
import AssayEngine
import AssayPolicy
import AssayYAML
import Foundation
import Testing

@Suite("Files with tests of policies")
struct PolicyTestReadingTests {
    @Test(
        "What is wrong is refused at its place, with a hint",
        arguments: [
            ("{}", ["1:1: tests: missing key `tests`"]),
            ("tests: []\ntest: []", ["2:1: test: unknown key `test` / did you mean `tests`?"]),
            (
                "version: 2\ntests: []",
                ["1:10: version: unknown version 2 of the format of tests; this program reads version 1"]
            ),
            ("tests: [5]", ["1:9: tests[0]: expected a mapping, found `5`"]),
            (
                "tests: [{name: a, expect: {verdict: accepted}}]",
                [
                    "1:9: tests[0]: expected one of `facts`, `device`, `decision`, `caller` and `request`: what the test is about"
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, device: {}, expect: {verdict: accepted}}]",
                ["1:48: tests[0].device: a test has only one of `facts`, `device`, `decision`, `caller` and `request`"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, change: {}, expect: {verdict: accepted}}]",
                ["1:48: tests[0].change: has no effect with `facts`"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", fcats: {}, expect: {verdict: accepted}}]",
                [
                    "1:9: tests[0]: expected one of `facts`, `device`, `decision`, `caller` and `request`: what the test is about",
                    "1:37: tests[0].fcats: unknown key `fcats` / did you mean `facts`?",
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:b\", facts: {}, expect: {verdict: accepted}}]",
                ["1:24: tests[0].app: unknown app or OAuth client `1:1:ios:b` / did you mean `1:1:ios:a`?"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", provider: staton, facts: {}, expect: {verdict: accepted}}]",
                ["1:47: tests[0].provider: the app has no provider `staton` / did you mean `station`?"]
            ),
            (
                "tests: [{name: a, facts: {}, expect: {verdict: accepted}}]",
                ["1:9: tests[0].app: missing key `app`"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {os_version: \"1\"}, expect: {verdict: accepted}}]",
                [
                    "1:45: tests[0].facts.os_version: the provider `station` has no fact `os_version` / did you mean `version`?"
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {degrees: warm, sky: cler, age: 5, wet: yes, version: x, since: y}, expect: {verdict: accepted}}]",
                [
                    "1:54: tests[0].facts.degrees: expected a whole number, found `warm`",
                    "1:65: tests[0].facts.sky: `sky` is one of `clear`, `cloudy` / did you mean `clear`?",
                    "1:76: tests[0].facts.age: expected a duration such as 1h, found `5` / add a unit, such as 5s",
                    "1:84: tests[0].facts.wet: expected true or false, found `yes` / write it as true, without quotes",
                    "1:98: tests[0].facts.version: `version` is a version such as 26.2",
                    "1:108: tests[0].facts.since: not a time: write it as 2026-12-31T23:59:59Z (RFC 3339)",
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, expect: {verdict: refsed}}]",
                ["1:66: tests[0].expect.verdict: expected accepted or refused / did you mean `refused`?"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, expect: {reason: rule_refused}}]",
                ["1:56: tests[0].expect.verdict: missing key `verdict`"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, expect: {verdict: refused, reason: report_cold}}]",
                [
                    "1:83: tests[0].expect.reason: facts are judged by rules and the deny list, which refuse by `rule_refused` and `evidence_denied` / "
                        + "with `device` in the place of `facts`, evidence is made and verified"
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", device: {}, expect: {verdict: refused, reason: report_clod}}]",
                ["1:84: tests[0].expect.reason: unknown reason `report_clod` / did you mean `report_cold`?"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, expect: {verdict: accepted, reason: rule_refused}}]",
                ["1:84: tests[0].expect.reason: evidence that is accepted has no reason"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, expect: {verdict: refused, marks: [a], token: {}}}]",
                [
                    "1:82: tests[0].expect.marks: evidence that is refused has no marks",
                    "1:94: tests[0].expect.token: evidence that is refused gets no token",
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, expect: {verdict: accepted, token: {claims: {exp: 5}}}}]",
                ["1:93: tests[0].expect.token.claims.exp: `exp` is another one in each token / see `ttl`"]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", facts: {}, expect: {verdict: accepted, permission: allowed}}]",
                [
                    "1:76: tests[0].expect.permission: unknown key `permission` / known here: `marks`, `reason`, `rule`, `token`, "
                        + "`verdict`, `would_refuse`"
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", device: {degres: 5, sky: dark}, expect: {verdict: accepted}}]",
                [
                    "1:46: tests[0].device.degres: a device of the provider `station` has no `degres` / did you mean `degrees`?",
                    "1:62: tests[0].device.sky: `sky` is one of `clear`, `cloudy`",
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", device: {}, change: {reprt: forged, report: forgd}, expect: {verdict: accepted}}]",
                [
                    "1:58: tests[0].change.reprt: evidence of the provider `station` has no `reprt` to change / did you mean `report`?",
                    "1:81: tests[0].change.report: `report` cannot be changed so / did you mean `forged`?",
                ]
            ),
            (
                "tests: [{name: a, app: \"1:1:ios:a\", device: {}, method: exchangeReprt, at: noon, expect: {verdict: accepted}}]",
                [
                    "1:57: tests[0].method: no simulated device calls `exchangeReprt` / did you mean `exchangeReport`?",
                    "1:76: tests[0].at: not a time: write it as 2026-12-31T23:59:59Z (RFC 3339)",
                ]
            ),
            (
                "tests: [{name: a, caller: deploier, method: mintAppCheckTokn, expect: {permission: allowd}}]",
                [
                    "1:27: tests[0].caller: unknown caller `deploier` / did you mean `deployer`?",
                    "1:45: tests[0].method: unknown method `mintAppCheckTokn` / did you mean `mintAppCheckToken`?",
                    "1:84: tests[0].expect.permission: expected allowed or denied / did you mean `allowed`?",
                ]
            ),
            (
                "tests: [{name: a, caller: minter, method: exchangeReport, expect: {permission: allowed}}]",
                ["1:43: tests[0].method: the method `exchangeReport` needs no permission"]
            ),
            (
                "tests: [{name: a, caller: minter, method: mintAppCheckToken, expect: {permission: allowed}}]",
                ["1:9: tests[0].resource: missing key `resource`"]
            ),
            (
                "tests: [{name: a, caller: minter, method: mintAppCheckToken, resource: projects/exmple, expect: {permission: allowed}}]",
                ["1:72: tests[0].resource: unknown resource `projects/exmple` / did you mean `projects/example`?"]
            ),
            (
                "tests: [{name: a, caller: minter, method: mintAppCheckToken, resource: projects/1, expect: {permission: allowed}}]",
                ["1:72: tests[0].resource: the method `mintAppCheckToken` is not one of resources of this kind"]
            ),
            (
                "defaults: {app: \"1:1:ios:a\", facts: {}}\ntests:\n- {name: a, facts: {}, expect: {verdict: accepted}}\n"
                    + "- {name: a, facts: {}, expect: {verdict: accepted}}",
                [
                    "1:30: defaults.facts: unknown key `facts` / known here: `app`, `at`, `provider`",
                    "4:3: tests[1]: the name `a` is used twice",
                ]
            ),
            (
                "tests: [{name: \"a\\nb\", app: \"1:1:ios:a\", facts: {}, expect: {verdict: accepted}}]",
                ["1:16: tests[0].name: expected a name of 1 to 200 bytes on one line"]
            ),
        ])
    func wrong(text: String, problems: [String]) throws {
        #expect(try PolicyTestFixture.problems(text) == problems)
    }

    @Test("Policies that are wrong are said before any test is read, as far as no secret is needed")
    func wrongPolicies() throws {
        let policy = PolicyTestFixture.policy.replacingOccurrences(of: "coldest: -5", with: "coldst: -5")
            .replacingOccurrences(of: "[tokens.mint]", with: "[tokens.mnt]")
            .replacingOccurrences(of: "degrees: {above", with: "degres: {above")
        #expect(
            try PolicyTestFixture.problems("tests: 5", of: policy) == [
                "3:64: callers.minter.permissions[0]: unknown permission `tokens.mnt` / did you mean `tokens.mint`?",
                "9:31: projects[0].apps[0].providers.station.coldst: unknown key `coldst` / did you mean `coldest`?",
                "11:34: projects[0].apps[0].rules[0].when.degres: no provider of the app tells the fact `degres` / "
                    + "did you mean `degrees`?",
            ])
    }

    // MARK: - Limits

    @Test("A file of a million tests is refused, and so is one of a few more than may be")
    func tooManyTests() throws {
        let million = "tests: [" + String(repeating: "{},", count: 1_000_000) + "]"
        #expect(try PolicyTestFixture.problems(million).count == 1)
        let many = "tests: [" + String(repeating: "{},", count: 10_001) + "]"
        #expect(
            try PolicyTestFixture.problems(many) == [
                "1:1: tests: more than 10000 tests; divide them among several folders of policies"
            ])
    }

    @Test("A test of many thousand facts, claims or names is refused, and so is a fact of many bytes")
    func tooManyFacts() throws {
        func problems(_ part: String, _ expectation: String = "verdict: accepted") throws -> [String] {
            try PolicyTestFixture.problems(
                "tests: [{name: a, app: \"1:1:ios:a\", \(part), expect: {\(expectation)}}]")
        }
        let facts = (0..<50_000).map { "f\($0): 1" }.joined(separator: ", ")
        #expect(try problems("facts: {\(facts)}").contains("1:44: tests[0].facts: a test has at most 64 facts"))
        #expect(
            try problems("facts: {}", "verdict: accepted, token: {claims: {\(facts)}}").first?
                .hasSuffix("claims: a test has at most 64 claims") == true)
        let names = String(repeating: "a,", count: 50_000)
        #expect(
            try problems("facts: {}", "verdict: accepted, marks: [\(names)]").first?.hasSuffix(
                "marks: at most 64 names")
                == true)
        let text = String(repeating: "x", count: 100_000)
        #expect(try problems("facts: {town: \(text)}") == ["1:51: tests[0].facts.town: `town` is text"])
    }

    @Test("Of very many mistakes the first hundred are said")
    func tooManyMistakes() throws {
        let text = "tests:\n" + String(repeating: "- {name: 5, fact: 1}\n", count: 5000)
        let problems = try #require(throws: Diagnostics.self) { _ = try PolicyTestFixture.tests(text) }
        #expect(problems.all.count == 100)
        #expect(problems.omitted > 0)
    }
}
