import AssayCore
import AssayEngine
import AssayPolicy
import AssayPolicyTools
import AssayYAML
import Foundation
import Testing

@Suite("Tests of policies")
struct PolicyTestRunTests {
    /// A test in one line, with what is behind `expect:`.
    private static func test(_ question: String, _ expectation: String) -> String {
        "tests:\n  - {name: a, \(question), expect: {\(expectation)}}"
    }

    private static let about = "app: \"1:1:ios:a\", provider: station"

    @Test(
        "A test says what must become of facts, a device or a caller",
        arguments: [
            // Facts.
            ("\(about), facts: {version: \"1.9\", sky: clear}", "verdict: refused, reason: rule_refused, rule: old"),
            ("\(about), facts: {version: \"2.0\", sky: clear}", "verdict: accepted, rule: rest, marks: []"),
            ("\(about), facts: {version: \"1.9\"}", "verdict: accepted, would_refuse: []"),
            ("\(about), facts: {version: \"1.9\", sky: null}", "verdict: accepted, rule: rest"),
            ("\(about), facts: {degrees: 31, age: 30m}", "verdict: accepted, marks: [new], would_refuse: [trial]"),
            ("\(about), facts: {}", "verdict: accepted, rule: rest, token: {ttl: 2h, limited_use: false}"),
            ("app: projects/example/apps/1:1:ios:a, facts: {}", "verdict: accepted"),
            ("app: projects/1/apps/1:1:ios:a, facts: {}", "verdict: accepted"),
            (
                "\(about), facts: {age: 5m}",
                """
                verdict: accepted, token: {claims: {assay_mark: new, sub: "1:1:ios:a", provider: station, development: null, \
                aud: [projects/1, projects/example]}}
                """
            ),
            // Devices.
            ("\(about), device: {degrees: 3}", "verdict: accepted, rule: rest, token: {ttl: 2h, limited_use: false}"),
            (
                "\(about), device: {degrees: 3}, limited_use: true",
                "verdict: accepted, token: {ttl: 5m, limited_use: true}"
            ),
            ("\(about), device: {degrees: -6}", "verdict: refused, reason: report_cold"),
            ("\(about), device: {version: \"1.0\", sky: clear}", "verdict: refused, rule: old"),
            ("\(about), device: {degrees: 31}", "verdict: accepted, would_refuse: [trial]"),
            ("\(about), device: {}, change: {report: forged}", "verdict: refused, reason: report_forged, rule: null"),
            ("\(about), device: {degrees: -6}, change: {report: twice}", "verdict: refused, reason: report_cold"),
            ("\(about), device: {}, at: 2030-01-01T00:00:00Z", "verdict: accepted"),
            // Callers.
            (
                "caller: deployer, method: mintAppCheckToken, resource: \"projects/1/apps/1:1:ios:a\"",
                "permission: denied"
            ),
            (
                "caller: minter, method: mintAppCheckToken, resource: \"projects/1/apps/1:1:ios:a\"",
                "permission: allowed"
            ),
            (
                "caller: minter, method: mintAppCheckToken, resource: \"projects/2/apps/1:2:ios:b\"",
                "permission: denied"
            ),
            ("caller: deployer, method: verifyAppCheckToken, resource: projects/example", "permission: allowed"),
            ("caller: deployer, method: verifyAppCheckToken, resource: projects/other", "permission: denied"),
            ("caller: minter, method: listReports, resource: \"projects/1/apps/1:1:ios:a\"", "permission: denied"),
        ])
    func passes(question: String, expectation: String) async throws {
        let results = try await PolicyTestFixture.run(Self.test(question, expectation))
        #expect(results.map(\.words) == ["passed"])
    }

    @Test(
        "What is not as expected is said at its place, with what was found and why",
        arguments: [
            (
                "facts: {version: \"1.9\"}", "verdict: refused, rule: old",
                """
                2:95 expected `refused`, found `accepted`; 2:110 expected `old`, found `rest` / the rule does not match, because of \
                `sky` at a.yaml:12:57
                """
            ),
            (
                "facts: {version: \"1.9\"}", "verdict: accepted, rule: odl",
                "2:111 expected `odl`, found `rest` / the app has no rule `odl`: did you mean `old`?"
            ),
            (
                "facts: {age: 5m}", "verdict: accepted, rule: rest",
                "2:104 expected `rest`, found `new` / an earlier rule decides, before `rest` at a.yaml:14:13"
            ),
            (
                "facts: {age: 2h}", "verdict: accepted, marks: [new]",
                "2:105 expected `new`, found none / the rule does not match, because of `age` at a.yaml:13:32"
            ),
            (
                "facts: {degrees: 31}", "verdict: accepted, would_refuse: []",
                "2:116 expected none, found `trial`"
            ),
            (
                "facts: {}", "verdict: accepted, token: {ttl: 1h, limited_use: true, claims: {provider: other}}",
                "2:104 expected 3600 seconds, found 7200 seconds; 2:121 expected true, found false; "
                    + "2:146 expected \"other\", found \"station\""
            ),
            (
                "facts: {version: \"1.9\", sky: clear}", "verdict: accepted, token: {ttl: 2h}",
                "2:107 expected `accepted`, found `refused`; 2:130 expected a token, found none"
            ),
            (
                "device: {}, change: {report: forged}", "verdict: refused, reason: report_cold",
                "2:125 expected `report_cold`, found `report_forged`"
            ),
            ("device: {degrees: -6}", "verdict: accepted", "2:93 expected `accepted`, found `refused`"),
        ])
    func fails(question: String, expectation: String, words: String) async throws {
        let results = try await PolicyTestFixture.run(Self.test("\(Self.about), \(question)", expectation))
        #expect(results.map(\.words) == [words])
    }

    private static let tried = PolicyTestFixture.policy.replacing("coldest: -5, ", with: "shadow: {coldest: 5}, ")

    @Test(
        "Shadow settings judge the evidence of devices that is accepted",
        arguments: [
            ("device: {degrees: 3}", "verdict: accepted, would_refuse: [\"station:report_cold\"]", "passed"),
            ("device: {degrees: 6}", "verdict: accepted, would_refuse: []", "passed"),
            (
                "device: {degrees: 31}", "verdict: accepted, would_refuse: [trial]", "passed"
            ),
            (
                "device: {degrees: 3}", "verdict: accepted, would_refuse: []",
                "2:116 expected none, found `station:report_cold`"
            ),
            (
                "device: {degrees: 6}", "verdict: accepted, would_refuse: [\"station:report_cold\"]",
                "2:116 expected `station:report_cold`, found none / the settings in `shadow` do not refuse it so, or would have to call another server"
            ),
            (
                "device: {degrees: 3}", "verdict: accepted, would_refuse: [\"other:report_cold\"]",
                "2:116 expected `other:report_cold`, found `station:report_cold` / the test is about evidence of the provider `station`"
            ),
            (
                "device: {}, change: {report: forged}", "verdict: refused, would_refuse: [\"station:report_cold\"]",
                "2:131 expected `station:report_cold`, found none / settings in `shadow` judge only what is accepted"
            ),
            (
                "facts: {degrees: 3}", "verdict: accepted, would_refuse: [\"station:report_cold\"]",
                "2:115 expected `station:report_cold`, found none / settings in `shadow` are judged in tests with `device`"
            ),
        ])
    func tried(question: String, expectation: String, words: String) async throws {
        let text = Self.test("\(Self.about), \(question)", expectation)
        let results = try await PolicyTestFixture.run(text, of: Self.tried)
        #expect(results.map(\.words) == [words])
    }

    @Test("Without tried settings, the hint says that there are none; with them, coverage knows when they matter")
    func triedSettings() async throws {
        let expectation = "verdict: accepted, would_refuse: [\"station:report_cold\"]"
        let text = Self.test("\(Self.about), device: {degrees: 3}", expectation)
        let without = try await PolicyTestFixture.run(text)
        #expect(without.first?.words.hasSuffix(" / the provider `station` has no settings in `shadow`") == true)
        for (test, isCovered) in [(text, true), (text.replacing("3}", with: "6}"), false)] {
            let report = try await PolicyTestFixture.tests(test, of: Self.tried).run(findsDecisiveSettings: true)
            let item = report.coverage.items.first { $0.name.isExactly("shadow of station") }
            #expect(item?.isCovered == isCovered)
        }
    }

    @Test("Facts that the deny list refuses are expected with its reason")
    func deniedFacts() async throws {
        let policy = "deny: [{town: Rome}]\n" + PolicyTestFixture.policy
        for (town, words) in [("Rome", "passed"), ("Oslo", nil)] {
            let text = Self.test("\(Self.about), facts: {town: \(town)}", "verdict: refused, reason: evidence_denied")
            let results = try await PolicyTestFixture.run(text, of: policy)
            #expect((results.map(\.words) == ["passed"]) == (words != nil), "\(results.map(\.words))")
        }
    }

    @Test(
        "Where rules are not asked, the hint says what decides before them, and no rule counts as looked at",
        arguments: [
            (
                "facts: {town: Rome}", "verdict: accepted, rule: rest",
                """
                3:91 expected `accepted`, found `refused`; 3:107 expected `rest`, found none / no rule is asked: the deny list refuses \
                it (a.yaml:1:8): flooded
                """
            ),
            (
                "facts: {town: Rome}", "verdict: refused, would_refuse: [trial]",
                "3:114 expected `trial`, found none / no rule is asked: the deny list refuses it (a.yaml:1:8): flooded"
            ),
            (
                "device: {}, change: {report: forged}", "verdict: refused, rule: old",
                "3:123 expected `old`, found none / no rule is asked: the evidence is refused by `report_forged` before them"
            ),
        ])
    func beforeRules(question: String, expectation: String, words: String) async throws {
        let policy = "deny: [{town: Rome, note: flooded}]\n" + PolicyTestFixture.policy
        let text = "# A comment.\n" + Self.test("\(Self.about), \(question)", expectation)
        let tests = try PolicyTestFixture.tests(text, of: policy)
        let report = try await tests.run()
        #expect(report.results.map(\.words) == [words])
        #expect(report.coverage.items.allSatisfy { $0.kind == .provider || $0.hits + $0.misses == 0 })
    }

    @Test("A failed test of a permission says what the caller lacks")
    func lackingPermission() async throws {
        let text = Self.test(
            "caller: deployer, method: mintAppCheckToken, resource: \"projects/1/apps/1:1:ios:a\"",
            "permission: allowed")
        let result = try #require(try await PolicyTestFixture.run(text).first)
        #expect(result.words == "2:120 expected `allowed`, found `denied`")
        #expect(result.finding?.explanation == "the caller deployer lacks the permission tokens.mint")
    }

    @Test(
        "Whatever is changed in the policies, a test of it fails",
        arguments: [
            // Facts: a rule is removed, turned around, widened, weakened, or comes later.
            ("facts: {version: \"1.9\", sky: clear}", "verdict: refused, rule: old", "{name: old,", "{name: older,"),
            ("facts: {version: \"1.9\", sky: clear}", "verdict: refused", "below: \"2.0\"", "above: \"2.0\""),
            ("facts: {version: \"1.9\", sky: clear}", "verdict: refused", "sky: clear", "sky: cloudy"),
            ("facts: {version: \"1.9\"}", "verdict: accepted", ", sky: clear", ""),
            ("facts: {version: \"1.9\", sky: clear}", "verdict: refused", "clear}, then: refuse", "clear}, then: mark"),
            ("facts: {degrees: 31}", "verdict: accepted, would_refuse: [trial]", ", enforcement: shadow", ""),
            ("facts: {degrees: 30}", "verdict: accepted, would_refuse: []", "above: 30", "at_least: 30"),
            ("facts: {age: 5m}", "verdict: accepted, token: {claims: {assay_mark: new}}", ", claim: true", ""),
            ("facts: {}", "verdict: accepted, token: {ttl: 2h}", "token_ttl: 2h", "token_ttl: 3h"),
            (
                "facts: {}", "verdict: accepted, rule: rest", "- {name: rest, then: allow}",
                "- {name: rest, then: refuse}"
            ),
            // Devices: what the provider demands is widened.
            ("device: {degrees: -6}", "verdict: refused, reason: report_cold", "coldest: -5, ", ""),
            ("device: {degrees: -6}", "verdict: refused, reason: report_cold", "coldest: -5", "coldest: -7"),
            ("device: {version: \"1.9\", sky: clear}", "verdict: refused", "below: \"2.0\"", "below: \"1.0\""),
        ])
    func mutations(question: String, expectation: String, old: String, new: String) async throws {
        let text = Self.test("\(Self.about), \(question)", expectation)
        #expect(try await PolicyTestFixture.run(text).map(\.words) == ["passed"])
        let changed = PolicyTestFixture.policy.replacingOccurrences(of: old, with: new)
        #expect(changed != PolicyTestFixture.policy)
        let results = try await PolicyTestFixture.run(text, of: changed)
        #expect(results.map(\.words) != ["passed"])
    }

    @Test(
        "Whatever is changed in what a caller may do, a test of it fails",
        arguments: [
            (
                "denied", "1", "permissions: [appCheckTokens.verify]",
                "permissions: [appCheckTokens.verify, tokens.mint]"
            ),
            ("denied", "1", "permissions: [appCheckTokens.verify]", "permissions: [admin]"),
            ("denied", "2", "permissions: [appCheckTokens.verify], projects: [example]", "permissions: [tokens.mint]"),
        ])
    func callerMutations(permission: String, project: String, old: String, new: String) async throws {
        let app = project == "1" ? "1:1:ios:a" : "1:2:ios:b"
        let text = Self.test(
            "caller: deployer, method: mintAppCheckToken, resource: \"projects/\(project)/apps/\(app)\"",
            "permission: \(permission)")
        #expect(try await PolicyTestFixture.run(text).map(\.words) == ["passed"])
        let changed = PolicyTestFixture.policy.replacingOccurrences(of: old, with: new)
        #expect(changed != PolicyTestFixture.policy)
        #expect(try await PolicyTestFixture.run(text, of: changed).map(\.words) != ["passed"])
    }

    @Test("Facts and a device that has them come to the same end")
    func sameEnds() async throws {
        for version in ["1.9", "2.0"] {
            for sky in ["clear", "cloudy"] {
                for degrees in [30, 31] {
                    let said = "version: \"\(version)\", sky: \(sky), degrees: \(degrees)"
                    let ends = try await PolicyTestFixture.run(
                        """
                        defaults: {app: "1:1:ios:a"}
                        tests:
                          - {name: facts, facts: {\(said)}, expect: {verdict: accepted}}
                          - {name: device, device: {\(said)}, expect: {verdict: accepted}}
                        """
                    ).map { "\($0.finding?.words ?? "") \($0.finding?.wouldRefuse ?? [])" }
                    #expect(ends.count == 2 && ends[0] == ends[1])
                }
            }
        }
    }

    @Test("A device whose secrets nobody can make up, and one without a simulator, do not run")
    func notRun() async throws {
        let text = Self.test("\(Self.about), device: {whatever: 1}", "verdict: accepted")
        #expect(
            try await PolicyTestFixture.run(text, simulator: nil).map(\.words) == [
                "not run: this program has no simulated devices of the provider `station`"
            ])
        let simple = Self.test("\(Self.about), device: {}", "verdict: accepted")
        #expect(
            try await PolicyTestFixture.run(simple, simulator: StationSimulator(hasSecret: false)).map(\.words) == [
                "not run: needs the secret env:NOBODY_SETS_THIS"
            ])
    }

    @Test("Tests are chosen by a part of their names, and run in the order of the file")
    func filter() async throws {
        let tests = try PolicyTestFixture.tests(
            """
            tests:
              - {name: one red, app: "1:1:ios:a", facts: {}, expect: {verdict: accepted}}
              - {name: two, app: "1:1:ios:a", facts: {}, expect: {verdict: refused}}
              - {name: three red, app: "1:1:ios:a", facts: {}, expect: {verdict: accepted}}
            """)
        let all = try await tests.run()
        #expect(all.results.map(\.name) == ["one red", "two", "three red"])
        #expect(all.passed == 2 && all.failed == 1 && all.notRun == 0)
        #expect(try await tests.run(filter: "red").results.map(\.name) == ["one red", "three red"])
        #expect(try await tests.run(filter: "RED").results.isEmpty)
    }
}
