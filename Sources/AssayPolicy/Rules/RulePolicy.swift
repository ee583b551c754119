package import AssayCore
public import AssayYAML

/// One rule over the facts that providers find: an entry of `rules` of an app.
public struct RulePolicy: Sendable {
    /// What happens to evidence that a rule matches; no later rule is asked then.
    @nonexhaustive public enum Effect: String, Decodable, Sendable, Hashable, CaseIterable {
        /// The evidence is accepted.
        case allow
        /// The evidence is refused.
        case refuse
        /// The evidence is accepted, and the record, and the token if wanted, have the rule's name.
        case mark
    }

    /// The name in records, metrics and tokens.
    public let name: String
    /// What happens to evidence that the rule matches.
    public let effect: Effect
    /// Whether the tokens of marked evidence name the rule.
    public let addsClaim: Bool
    /// Whether the rule is in shadow: it is judged and recorded, and changes nothing.
    public let isShadow: Bool
    /// The place of the rule in its file.
    public let location: SourceLocation
    let conditions: [Condition]
    /// The rule itself, for messages.
    let node: YAMLNode
    let path: YAMLPath

    /// A demand on one fact, whose values are not read yet: their type is the fact's.
    struct Condition: Sendable {
        let fact: String
        let entry: YAMLEntry
        let path: YAMLPath
        let tests: [(comparison: Comparison, value: YAMLNode, path: YAMLPath)]
    }

    /// Whether it matches all evidence.
    package var matchesAll: Bool { conditions.isEmpty }

    /// The facts that it demands something of, with their places.
    package var demands: [RuleLook.Demand] {
        conditions.map { RuleLook.Demand(fact: $0.fact, location: $0.entry.keyLocation) }
    }
}

/// The rules of an app for the evidence of one provider.
package struct RuleSet: Sendable {
    /// The fact that every exchange has: the provider's name.
    package static let provider = "provider"

    struct Rule: Sendable {
        let policy: RulePolicy
        let matcher: FactMatcher

        /// Judges every condition, also after one that does not hold.
        func look(at facts: [ExactText: Fact.Value]) -> RuleLook {
            RuleLook(
                rule: policy,
                demands: matcher.conditions.map {
                    (RuleLook.Demand(fact: $0.fact.string, location: $0.location), $0.holds(for: facts))
                })
        }
    }

    /// What rules say of some evidence.
    package struct Judgement: Sendable {
        /// The first rule that matches; nil for none.
        package var rule: RulePolicy?
        /// The rules before it that are in shadow and match.
        package var shadows: [RulePolicy] = []

        package init() {}
    }

    let rules: [Rule]

    /// Whether there are no rules.
    package var isEmpty: Bool { rules.isEmpty }

    /// Reads the values of rules by the types of facts.
    ///
    /// - Parameters:
    ///   - provider: the provider whose evidence is judged.
    ///   - facts: the facts of each provider of the app, by the providers' names.
    ///   - providers: the names of all providers of the program.
    ///   - isWhole: whether these are all facts, so that an unknown one does not exist.
    package init(
        _ policies: [RulePolicy], for provider: String, facts: [ExactText: [FactName]], providers: [String],
        isWhole: Bool,
        problems sink: DiagnosticSink
    ) {
        var types: [ExactText: FactType] = [:]
        for name in facts.values.flatMap(\.self) where types[ExactText(name.text)] == nil {
            types[ExactText(name.text)] = name.type
        }
        // Its own facts are of its own types.
        for name in facts[ExactText(provider)] ?? [] { types[ExactText(name.text)] = name.type }
        types[ExactText(Self.provider)] = .words(providers.map { ExactText($0) })
        let unknown = { (condition: RulePolicy.Condition) in
            condition.entry.diagnostic(
                "no provider of the app tells the fact `\(condition.fact)`", in: condition.path,
                hint: Spelling.hint(for: condition.fact, among: types.keys.map(\.string)))
        }
        rules = policies.map { policy in
            Rule(
                policy: policy,
                matcher: FactMatcher(
                    policy.conditions, types: types, unknown: isWhole ? unknown : nil, problems: sink))
        }
    }

    /// What the rules say of evidence with these facts.
    package func judge(_ facts: [Fact], provider: String) -> Judgement {
        var judgement = Judgement()
        guard !rules.isEmpty else { return judgement }
        let values = Self.values(facts, provider: provider)
        for rule in rules where rule.matcher.matches(values) {
            guard !rule.policy.isShadow else {
                judgement.shadows.append(rule.policy)
                continue
            }
            judgement.rule = rule.policy
            break
        }
        return judgement
    }

    /// How each rule that evidence with these facts comes to looks at it; a rule after the one that decides is not among them.
    package func looks(at facts: [Fact], provider: String) -> [RuleLook] {
        let values = Self.values(facts, provider: provider)
        var looks: [RuleLook] = []
        for rule in rules {
            let look = rule.look(at: values)
            looks.append(look)
            if look.matches, !rule.policy.isShadow { break }
        }
        return looks
    }

    /// Facts by their names, with the provider's.
    static func values(_ facts: [Fact], provider: String) -> [ExactText: Fact.Value] {
        var values = Dictionary(
            facts.map { (ExactText($0.name.text), $0.value) }, uniquingKeysWith: { first, _ in first })
        values[ExactText(Self.provider)] = .text(provider)
        return values
    }
}
