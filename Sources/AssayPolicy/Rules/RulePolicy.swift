package import AssayCore
public import AssayYAML

/// One rule over the facts that providers find: an entry of `rules` of an app.
public struct RulePolicy: Sendable {
    /// What happens to evidence that a rule matches; no later rule is asked then.
    public enum Effect: String, Sendable, Hashable, CaseIterable {
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
    /// Whether the rule is only tried: it is judged and recorded, and changes nothing.
    public let isShadow: Bool
    /// The place of the rule in its file.
    public let location: SourceLocation
    let conditions: [Condition]

    /// A demand on one fact, whose values are not read yet: their type is the fact's.
    struct Condition: Sendable {
        let fact: String
        let entry: YAMLEntry
        let path: YAMLPath
        let tests: [(comparison: Comparison, value: YAMLNode, path: YAMLPath)]
    }

    /// Whether it matches all evidence.
    var matchesAll: Bool { conditions.isEmpty }
}

/// The rules of an app for the evidence of one provider.
package struct RuleSet: Sendable {
    /// The fact that every exchange has: the provider's name.
    package static let provider = "provider"

    private struct Rule: Sendable {
        let policy: RulePolicy
        let conditions: [(fact: ExactText, type: FactType, tests: [FactTest])]

        func matches(_ facts: [ExactText: Fact.Value]) -> Bool {
            conditions.allSatisfy { condition in
                let value = facts[condition.fact].flatMap { ComparableFact($0, condition.type) }
                return condition.tests.allSatisfy { $0.holds(for: value) }
            }
        }
    }

    /// What rules say of some evidence.
    package struct Judgement: Sendable {
        /// The first rule that matches; nil for none.
        package var rule: RulePolicy?
        /// The rules before it that are only tried and match.
        package var shadows: [RulePolicy] = []

        package init() {}
    }

    private let rules: [Rule]

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
        rules = policies.map { policy in
            Rule(
                policy: policy,
                conditions: policy.conditions.compactMap { condition in
                    guard let type = types[ExactText(condition.fact)] else {
                        if isWhole {
                            sink.report(
                                condition.entry.diagnostic(
                                    "no provider of the app tells the fact `\(condition.fact)`", in: condition.path,
                                    hint: Spelling.hint(for: condition.fact, among: types.keys.map(\.string))))
                        }
                        return nil
                    }
                    let tests = condition.tests.compactMap { test in
                        Self.test(
                            test.comparison, YAMLValue(test.value, path: test.path, sink: sink), condition.fact, type)
                    }
                    return (ExactText(condition.fact), type, tests)
                })
        }
    }

    /// What the rules say of evidence with these facts.
    package func judge(_ facts: [Fact], provider: String) -> Judgement {
        var judgement = Judgement()
        guard !rules.isEmpty else { return judgement }
        var values = Dictionary(
            facts.map { (ExactText($0.name.text), $0.value) }, uniquingKeysWith: { first, _ in first })
        values[ExactText(Self.provider)] = .text(provider)
        for rule in rules where rule.matches(values) {
            guard !rule.policy.isShadow else {
                judgement.shadows.append(rule.policy)
                continue
            }
            judgement.rule = rule.policy
            break
        }
        return judgement
    }

    private static func test(
        _ comparison: Comparison, _ value: YAMLValue, _ fact: String, _ type: FactType
    ) -> FactTest? {
        guard !comparison.needsOrder || type.isOrdered else {
            value.report("`\(comparison.rawValue)` needs an order, and `\(fact)` is \(type.words)")
            return nil
        }
        switch comparison {
        case .known: return value.decode(Bool.self).map { .known($0) }
        case .equal: return read(value, fact, type).map { .among([$0], true) }
        case .different: return read(value, fact, type).map { .among([$0], false) }
        case .among, .notAmong:
            guard let elements = value.elements() else { return nil }
            if elements.isEmpty { value.report("expected at least one value") }
            if elements.count > 1000 { value.report("expected at most 1000 values") }
            return .among(elements.prefix(1000).compactMap { read($0, fact, type) }, comparison == .among)
        case .below: return read(value, fact, type).map { .below($0, orEqual: false) }
        case .atMost: return read(value, fact, type).map { .below($0, orEqual: true) }
        case .above: return read(value, fact, type).map { .above($0, orEqual: false) }
        case .atLeast: return read(value, fact, type).map { .above($0, orEqual: true) }
        }
    }

    /// A value of the fact's type; nil for another one, which is reported.
    private static func read(_ value: YAMLValue, _ fact: String, _ type: FactType) -> ComparableFact? {
        let found: Fact.Value?
        switch type {
        case .integer: found = value.decode(Int64.self).map { .integer($0) }
        case .bool: found = value.decode(Bool.self).map { .bool($0) }
        case .duration: found = value.decode(Duration.self).map { .duration($0) }
        case .instant: found = value.decode(Instant.self).map { .instant($0) }
        case .text, .words, .version, .digest: found = value.decode(String.self).map { .text($0) }
        }
        guard let found else { return nil }
        guard let known = ComparableFact(found, type) else {
            var hint: String?
            if case .words(let words) = type, case .text(let text) = found {
                hint = Spelling.guess(for: text, among: words.map(\.string))
            }
            value.report("`\(fact)` is \(type.words)", hint: hint)
            return nil
        }
        return known
    }
}
