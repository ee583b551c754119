import AssayCore
import AssayPolicy
import AssayYAML
import Testing

@Suite("Sets of rules, read by the types of facts")
struct RuleSetTests {
    private static let version = FactName("version", .version)
    private static let number = FactName("number", .integer)

    /// The policies of an app with rules.
    private static func policies(_ rules: String) -> PolicySet {
        PolicySet.read([
            PolicyFile(
                name: "a.yaml",
                text: """
                    projects:
                      - number: 1
                        id: example
                        apps:
                          - id: 1:1:ios:a
                            providers: {one: {}}
                            rules: [\(rules)]
                    """)
        ])
    }

    /// The rules for a provider's evidence, and what is wrong with them.
    private static func rules(
        _ text: String, for provider: String = "one", facts: [ExactText: [FactName]]? = nil, isWhole: Bool = true
    ) throws -> (rules: RuleSet, problems: [String]) {
        let policies = policies(text)
        #expect(policies.problems?.all.map(\.description) == nil)
        let app = try #require(policies.apps.first)
        let sink = DiagnosticSink()
        let rules = RuleSet(
            app.rules, for: provider, facts: facts ?? ["one": [version, number]], providers: ["one", "two"],
            isWhole: isWhole, problems: sink)
        return (rules, sink.diagnostics?.all.map(\.message) ?? [])
    }

    private static func isRefused(_ rules: RuleSet, _ facts: [Fact], provider: String = "one") -> Bool {
        rules.judge(facts, provider: provider).rule?.effect == .refuse
    }

    /// A version as its numbers, of which those that are missing are 0.
    private static func compare(_ left: [Int], _ right: [Int]) -> Int {
        for index in 0..<max(left.count, right.count) {
            let (left, right) = (
                index < left.count ? left[index] : 0, index < right.count ? right[index] : 0
            )
            if left != right { return left < right ? -1 : 1 }
        }
        return 0
    }

    @Test("Versions are in the order of their numbers, however they are written")
    func versions() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let sides = (0..<2).map { _ in
                (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                    [0, 0, 1, 2, 9, 10, 99, 100, 2_000_000_000].randomElement(using: &generator) ?? 0
                }
            }
            func written(_ numbers: [Int]) -> String {
                numbers.map { String(repeating: "0", count: Int.random(in: 0...2, using: &generator)) + "\($0)" }
                    .joined(separator: ".")
            }
            let expected = Self.compare(sides[0], sides[1])
            for (word, isExpected) in [
                ("below", expected < 0), ("at_most", expected <= 0), ("above", expected > 0),
                ("at_least", expected >= 0), ("is", expected == 0), ("not", expected != 0),
            ] {
                let limit = written(sides[1])
                let (rules, problems) = try Self.rules(
                    "{name: a, when: {version: {\(word): \"\(limit)\"}}, then: refuse}")
                #expect(problems == [])
                let fact = written(sides[0])
                #expect(
                    Self.isRefused(rules, [Fact(Self.version, .text(fact))]) == isExpected, "\(fact) \(word) \(limit)")
            }
        }
    }

    @Test("A fact that is not of its type fulfils nothing, and of two facts with one name the first counts")
    func oddFacts() throws {
        let (rules, _) = try Self.rules("{name: a, when: {number: {at_least: 5}}, then: refuse}")
        #expect(Self.isRefused(rules, [Fact(Self.number, .integer(5))]))
        #expect(!Self.isRefused(rules, [Fact(Self.number, .text("5"))]))
        #expect(!Self.isRefused(rules, [Fact(Self.number, .integer(4)), Fact(Self.number, .integer(6))]))
        #expect(!Self.isRefused(rules, []))
    }

    @Test("A provider's own type of a fact counts, and another provider's fact is unknown to its evidence")
    func severalProviders() throws {
        let facts: [ExactText: [FactName]] = [
            "one": [FactName("level", .words(["low", "high"]))], "two": [FactName("level", .integer), Self.number],
        ]
        let text = "{name: a, when: {level: 3}, then: refuse}"
        #expect(try Self.rules(text, for: "two", facts: facts).problems == [])
        #expect(try Self.rules(text, for: "one", facts: facts).problems == ["`level` is one of `low`, `high`"])
        let (rules, problems) = try Self.rules("{name: a, when: {number: {known: false}}, then: refuse}", facts: facts)
        #expect(problems == [])
        #expect(Self.isRefused(rules, []))
    }

    @Test("Where not all facts are known, an unknown one is no error, and the rest is read")
    func incomplete() throws {
        let text = "{name: a, when: {nothing: 3, provider: three}, then: refuse}"
        #expect(try Self.rules(text, isWhole: false).problems == ["`provider` is one of `one`, `two`"])
        #expect(
            try Self.rules(text).problems == [
                "no provider of the app tells the fact `nothing`", "`provider` is one of `one`, `two`",
            ])
    }

    @Test("There are bounds: 100 rules, 16 conditions, 1000 values")
    func bounds() throws {
        let rule = { (number: Int) in "{name: r\(number), when: {number: \(number)}, then: mark}" }
        #expect(Self.policies((0..<100).map(rule).joined(separator: ", ")).problems == nil)
        let many = Self.policies((0..<101).map(rule).joined(separator: ", "))
        #expect(many.problems?.all.map(\.message) == ["an app has at most 100 rules"])
        #expect(many.apps.first?.rules.count == 100)
        let conditions = { (count: Int) in (0..<count).map { "f\($0): 1" }.joined(separator: ", ") }
        #expect(Self.policies("{name: a, when: {\(conditions(16))}, then: mark}").problems == nil)
        #expect(
            Self.policies("{name: a, when: {\(conditions(17))}, then: mark}").problems?.all.map(\.message)
                == ["a rule has at most 16 conditions"])
        let values = { (count: Int) in (0..<count).map(String.init).joined(separator: ", ") }
        #expect(try Self.rules("{name: a, when: {number: [\(values(1000))]}, then: mark}").problems == [])
        #expect(
            try Self.rules("{name: a, when: {number: [\(values(1001))]}, then: mark}").problems
                == ["expected at most 1000 values"])
    }
}
