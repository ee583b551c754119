internal import AssayCore
internal import AssayYAML

/// An entry of `rules` of an app.
struct RuleSection: DescribedConfiguration {
    let name: Checked<String>
    let when: Undecoded<Never>?
    let then: Checked<RulePolicy.Effect>
    let claim: Checked<Bool>?
    let enforcement: Checked<RuleEnforcement>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, when, then, claim, enforcement
    }

    static let keys: [ExactText: PolicyKey] = [
        "name": PolicyKey(
            "The rule's name in records, metrics and tokens.", .pattern("^[A-Za-z0-9._@-]{1,64}$"),
            examples: ["old-ios"]
        ).enforced(
            "a rule's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`", where: Identifiers.isCallerName),
        "when": PolicyKey(
            """
            The demands on facts, all of which must hold: a value, a list of values, or comparisons. Without any, the \
            rule matches all evidence.
            """, examples: [["provider": ["not": "debug"]]]),
        "then": "What happens to evidence that the rule matches.",
        "claim": PolicyKey(
            "Whether tokens of evidence that is marked name the rule, in the claim `assay_mark`.", standard: false),
        "enforcement": PolicyKey(
            "With `shadow` the rule is judged and recorded, and changes nothing.",
            standard: .string(RuleEnforcement.enforced.rawValue)),
    ]
}

/// Whether what a rule says happens.
enum RuleEnforcement: String, Decodable, CaseIterable {
    /// It happens.
    case enforced
    /// It is only recorded.
    case shadow
}

extension RuleSection {
    private static let ruleLimit = 100
    private static let conditionLimit = 16

    /// Reads the section `rules` of an app.
    ///
    /// - Parameter warnings: collects what is questionable.
    static func read(_ value: YAMLValue, warnings: DiagnosticSink) -> [RulePolicy] {
        guard let elements = value.elements() else { return [] }
        if elements.count > ruleLimit { value.report("an app has at most \(ruleLimit) rules") }
        var rules: [RulePolicy] = []
        // Those that can be compared with others.
        var whole: [RulePolicy] = []
        for element in elements.prefix(ruleLimit) {
            guard let (rule, isWhole) = rule(element) else { continue }
            rules.append(rule)
            guard isWhole else { continue }
            if let first = whole.first(where: { $0.name.isExactly(rule.name) }) {
                element.report(
                    "the rule `\(rule.name)` is defined twice",
                    related: [.init(location: first.location, message: "first defined here")])
            }
            if let last = whole.last(where: { $0.matchesAll && !$0.isShadow }) {
                element.warn(
                    "no evidence comes to this rule: `\(last.name)` before it matches all", into: warnings)
            }
            whole.append(rule)
        }
        return rules
    }

    /// A rule, and whether it could be read; one that could not is kept, so that the values of its conditions are
    /// checked as well.
    private static func rule(_ value: YAMLValue) -> (rule: RulePolicy, isWhole: Bool)? {
        guard let section = value.decode(RuleSection.self) else { return nil }
        let when = section.when?.value(value.sink)
        let conditions = when?.mapping().map { demands($0) }
        let addsClaim = section.claim?.value ?? false
        if addsClaim, let effect = section.then.value, effect != .mark {
            value.mapping()?.report(
                "has no effect with `\(effect.rawValue)`: only a mark is named in tokens",
                key: CodingKeys.claim.rawValue)
        }
        let rule = RulePolicy(
            name: section.name.value ?? "", effect: section.then.value ?? .refuse, addsClaim: addsClaim,
            isShadow: section.enforcement?.value == .shadow, location: value.location, conditions: conditions ?? [],
            node: value.node, path: value.path)
        let isNamed = !section.name.value.isNil
        return (rule, isNamed && section.then.value != nil && (when == nil || conditions != nil))
    }

    /// The demands of a mapping on facts, by the facts' names.
    private static func demands(_ section: YAMLMapping) -> [RulePolicy.Condition] {
        let all = section.all()
        if all.count > conditionLimit { section.value.report("a rule has at most \(conditionLimit) conditions") }
        return all.prefix(conditionLimit).map { RulePolicy.Condition($0.entry, $0.value, in: section.path) }
    }
}

extension RulePolicy.Condition {
    /// Reads a demand on a fact, whose name is the key of an entry; what is wrong is reported.
    init(_ entry: YAMLEntry, _ value: YAMLValue, in path: YAMLPath) {
        var tests: [(Comparison, YAMLNode, YAMLPath)] = []
        switch value.node.content {
        case .scalar where value.node.isNull: value.report("expected a value, or a comparison such as {below: 5}")
        case .scalar: tests.append((.equal, value.node, value.path))
        case .sequence: tests.append((.among, value.node, value.path))
        case .mapping(let entries):
            if entries.isEmpty { value.report("expected a comparison such as {below: 5}") }
            for inner in entries {
                guard let comparison = Comparison(exactly: inner.key) else {
                    value.sink.report(inner.unknownKey(in: value.path, known: Comparison.allCases.map(\.rawValue)))
                    continue
                }
                tests.append((comparison, inner.value, value.path.key(inner.key)))
            }
        }
        self.init(fact: entry.key, entry: entry, path: path, tests: tests)
    }
}
