import AssayCore
import AssayPolicy
import AssayYAML
import Testing

@Suite("Rules that decide nothing")
struct UnreachableRuleTests {
    private static let number = FactName("number", .integer)
    private static let version = FactName("version", .version)
    private static let sky = FactName("sky", .words(["clear", "cloudy", "dark"]))
    private static let wet = FactName("wet", .bool)
    private static let town = FactName("town", .text)

    /// The rules of an app, a line of text for each.
    private static func policies(_ rules: [String]) throws -> [RulePolicy] {
        let text = """
            projects:
              - number: 1
                id: example
                apps:
                  - id: 1:1:ios:a
                    providers: {one: {}, two: {}}
                    rules:
            \(rules.map { "          - \($0)" }.joined(separator: "\n"))
            """
        let policies = PolicySet.read([PolicyFile(name: "a.yaml", text: text)])
        #expect(policies.problems?.description == nil)
        return try #require(policies.apps.first).rules
    }

    private static func sets(_ rules: [String]) throws -> [RuleSet] {
        let facts: [ExactText: [FactName]] = [
            "one": [number, version, sky, wet, town], "two": [FactName("version", .text), town],
        ]
        let policies = try policies(rules)
        return ["one", "two"].map {
            RuleSet(
                policies, for: $0, facts: facts, providers: ["one", "two"], isWhole: true, problems: DiagnosticSink())
        }
    }

    /// The warnings of the rules: `RULE contradiction FACT` and `RULE behind RULE`.
    private static func warnings(_ sets: [RuleSet], _ names: [String]) -> [String] {
        let sink = DiagnosticSink()
        RuleSet.reportUnreachable(sets, to: sink)
        return (sink.diagnostics?.all ?? []).map { warning in
            #expect(warning.severity == .warning)
            let quoted = warning.message.split(separator: "`").map(String.init)
            let other = quoted.count > 1 ? quoted[1] : ""
            let rule = names[(warning.location?.line ?? 8) - 8]
            return warning.message.contains("contradict") ? "\(rule) contradiction \(other)" : "\(rule) behind \(other)"
        }
    }

    @Test(
        "Conditions on one fact that nothing fulfils are found, and others are not",
        arguments: [
            ("number: {above: 5, below: 3}", true), ("number: {above: 5, below: 6}", true),
            ("number: {above: 5, below: 7}", false), ("number: {at_least: 5, at_most: 5}", false),
            ("number: {at_least: 5, at_most: 5, not: 5}", true), ("number: {at_least: 5, below: 5}", true),
            ("number: {above: 5, below: 8, not_in: [6, 7]}", true),
            ("number: {above: 5, below: 9, not_in: [6, 7]}", false),
            ("number: {is: 5, not: 5}", true), ("number: {is: 5, above: 5}", true),
            ("number: {is: 5, above: 4}", false),
            ("number: {in: [1, 2], above: 2}", true), ("number: {in: [1, 3], above: 2}", false),
            ("number: {known: false, above: 2}", true), ("number: {known: false}", false),
            ("number: {known: true, above: 2}", false),
            ("number: {above: 9223372036854775807}", false),
            ("number: {above: 9223372036854775807, at_most: 9223372036854775807}", true),
            ("number: {below: -9223372036854775808, at_least: -9223372036854775808}", true),
            ("number: {above: -9223372036854775808, below: 9223372036854775807}", false),
            ("version: {above: \"2.10\", below: \"2.9\"}", true), ("version: {above: \"2.9\", below: \"2.10\"}", false),
            ("version: {at_least: \"2.0\", at_most: \"2\"}", false),
            ("version: {above: \"2.0\", at_most: \"2\"}", true),
            ("sky: {not_in: [clear, cloudy, dark]}", true), ("sky: {not_in: [clear, dark]}", false),
            ("sky: {is: clear, not: clear}", true), ("wet: {not_in: [true, false]}", true), ("wet: {not: true}", false),
            ("town: {is: Rome, not_in: [Rome, Bonn]}", true), ("town: {not_in: [Rome, Bonn]}", false),
        ])
    func contradictions(_ condition: String, isContradiction: Bool) throws {
        let rule = "{name: a, when: {\(condition)}, then: mark}"
        let found = Self.warnings([try Self.sets([rule])[0]], ["a"])
        let fact = condition.prefix { $0 != ":" }
        #expect(found == (isContradiction ? ["a contradiction \(fact)"] : []))
    }

    @Test(
        "A rule behind a wider one is found, and one that still decides something is not",
        arguments: [
            ("number: {above: 3}", "number: {above: 5}", true), ("number: {above: 5}", "number: {above: 3}", false),
            ("number: {above: 3}", "number: {at_least: 4}", true),
            ("number: {above: 3}", "number: {at_least: 3}", false),
            ("number: {at_least: 4}", "number: {above: 3}", true),
            ("number: {below: 3}", "number: {at_most: 2}", true), ("number: {below: 3}", "number: {at_most: 3}", false),
            ("number: {above: 3}", "number: 4", true), ("number: {above: 3}", "number: 3", false),
            ("number: {above: 3, below: 9}", "number: [4, 8]", true),
            ("number: {above: 3, below: 9}", "number: [4, 9]", false),
            ("number: {above: 3}", "number: {above: 5}, sky: clear", true),
            ("number: {above: 3}, sky: clear", "number: {above: 5}", false),
            ("number: {above: 3}, sky: clear", "sky: clear, number: {above: 5}", true),
            ("number: {above: 3}, sky: clear", "sky: dark, number: {above: 5}", false),
            ("number: {known: true}", "number: 4", true), ("number: {known: true}", "number: {above: 4}", true),
            ("number: {known: true}", "number: {known: false}", false), ("number: {known: true}", "sky: clear", false),
            ("number: {known: false}", "number: {known: false}, sky: clear", true),
            ("number: {not: 4}", "number: {above: 4}", true), ("number: {not: 4}", "number: {above: 3}", false),
            ("number: {not: 4}", "number: {not_in: [4, 5]}", true),
            ("number: {not_in: [4, 5]}", "number: {not: 4}", false),
            ("sky: {not: clear}", "sky: [cloudy, dark]", true), ("sky: [cloudy, dark]", "sky: {not: clear}", true),
            ("sky: {not: clear}", "sky: {known: true}", false),
            ("sky: [clear, cloudy, dark]", "sky: {known: true}", true),
            ("wet: [true, false]", "wet: {known: true}", true), ("town: Rome", "town: Rome", true),
            ("town: Rome", "town: {known: true}", false), ("provider: one", "provider: one, number: 3", true),
            ("version: {below: \"2.10\"}", "version: {below: \"2.9\"}", true),
            ("version: {below: \"2.9\"}", "version: {below: \"2.10\"}", false),
            ("version: {below: \"2.0\"}", "version: {at_most: \"2\"}", false),
            ("version: {at_most: \"2.0\"}", "version: {below: \"2\"}", true),
            ("version: {above: \"2.0\"}", "version: {at_least: \"2\"}", false),
            ("version: {at_least: \"2.0\"}", "version: {above: \"2\"}", true),
        ])
    func hidden(_ first: String, _ second: String, isHidden: Bool) throws {
        func found(_ middle: String) throws -> [String] {
            let rules = [
                "{name: a, when: {\(first)}, then: mark\(middle)}", "{name: b, when: {\(second)}, then: refuse}",
            ]
            return Self.warnings([try Self.sets(rules)[0]], ["a", "b"])
        }
        #expect(try found("") == (isHidden ? ["b behind a"] : []))
        // What is in shadow decides nothing.
        #expect(try found(", enforcement: shadow") == [])
    }

    @Test("A rule is idle only if it is so for each provider, and of a rule that matches all the loader has warned")
    func providers() throws {
        let rules = [
            "{name: a, when: {town: {known: true}}, then: mark}", "{name: b, when: {town: Rome}, then: mark}",
            "{name: c, then: allow}", "{name: d, when: {town: Rome}, then: refuse}",
        ]
        let names = ["a", "b", "c", "d"]
        #expect(Self.warnings(try Self.sets(rules), names) == ["b behind a"])
        // As versions both are the same, as texts they are not.
        let versions = try Self.sets(["{name: a, when: {version: {is: \"2.0\", not: \"2\"}}, then: mark}"])
        #expect(Self.warnings([versions[0]], names) == ["a contradiction version"])
        #expect(Self.warnings([versions[1]], names) == [])
        #expect(Self.warnings(versions, names) == [])
        #expect(Self.warnings([], names) == [])
    }

    @Test("A rule about a fact that is not known here is not said to match what another one matches")
    func unknownFacts() throws {
        let policies = try Self.policies([
            "{name: a, when: {town: Rome, elsewhere: 1}, then: mark}", "{name: b, when: {town: Rome}, then: mark}",
        ])
        let set = RuleSet(
            policies, for: "one", facts: ["one": [Self.town]], providers: ["one"], isWhole: false,
            problems: DiagnosticSink())
        #expect(Self.warnings([set], ["a", "b"]) == [])
    }

    @Test("Long lists cost no more than short ones, and are not judged")
    func longLists() throws {
        let values = (0..<1000).map(String.init).joined(separator: ", ")
        let rules = (0..<100).map {
            "{name: r\($0), when: {number: [\(values)], town: {not_in: [\(values)]}}, then: mark}"
        }
        #expect(Self.warnings([try Self.sets(rules)[0]], (0..<100).map { "r\($0)" }) == [])
    }

    @Test("Of random rules, no warning is wrong: whatever evidence comes, an idle rule does not decide")
    func random() throws {
        var generator = SystemRandomNumberGenerator()
        var warned = 0
        let values: [Fact.Value?] = [nil] + (-1...6).map { .integer($0) }
        let skies: [Fact.Value?] = [nil, .text("clear"), .text("cloudy"), .text("dark")]
        for _ in 0..<200 {
            func comparisons() -> String {
                let words = ["above", "below", "at_least", "at_most", "is", "not"].shuffled(using: &generator)
                    .prefix(Int.random(in: 1...3, using: &generator))
                return words.map { "\($0): \(Int.random(in: 0...5, using: &generator))" }.joined(separator: ", ")
            }
            let rules = (0..<4).map { index in
                let sky = ["", ", sky: clear", ", sky: {not: dark}", ", sky: {known: false}"].randomElement(
                    using: &generator)
                return "{name: r\(index), when: {number: {\(comparisons())}\(sky ?? "")}, then: mark}"
            }
            let set = try Self.sets(rules)[0]
            let idle = Self.warnings([set], (0..<4).map { "r\($0)" }).compactMap { $0.split(separator: " ").first }
            warned += idle.count
            for number in values {
                for sky in skies {
                    let facts = [(Self.number, number), (Self.sky, sky)].compactMap { name, value in
                        value.map { Fact(name, $0) }
                    }
                    let decided = set.judge(facts, provider: "one").rule?.name
                    #expect(!idle.contains { $0 == decided ?? "" }, "\(rules)")
                }
            }
        }
        #expect(warned > 0)
    }
}
