internal import AssayCore
internal import AssayYAML

/// Reads the section `rules` of an app.
enum RuleReader {
    static let key = "rules"
    private static let ruleLimit = 100
    private static let conditionLimit = 16

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

    /// A rule, and whether it could be read; one that could not is kept, so that the values of its conditions are checked as well.
    private static func rule(_ value: YAMLValue) -> (rule: RulePolicy, isWhole: Bool)? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        var name = section.required("name")?.decode(String.self)
        if let text = name, !Identifiers.isCallerName(text) {
            section.report("a rule's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`", key: "name")
            name = nil
        }
        let when = section.optional("when")
        let conditions = when?.mapping().map { demands($0) }
        let effect: RulePolicy.Effect? = section.required("then").flatMap { word($0) }
        let addsClaim = section.optional("claim", as: Bool.self) ?? false
        if addsClaim, let effect, effect != .mark {
            section.report("has no effect with `\(effect.rawValue)`: only a mark is named in tokens", key: "claim")
        }
        let enforcement: RuleEnforcement? = section.optional(RuleEnforcement.key).flatMap { word($0) }
        let rule = RulePolicy(
            name: name ?? "", effect: effect ?? .refuse, addsClaim: addsClaim, isShadow: enforcement == .shadow,
            location: value.location, conditions: conditions ?? [], node: value.node, path: value.path)
        return (rule, !name.isNil && effect != nil && (when == nil || conditions != nil))
    }

    /// The demands of a mapping on facts, by the facts' names.
    private static func demands(_ section: YAMLMapping) -> [RulePolicy.Condition] {
        let all = section.all()
        if all.count > conditionLimit { section.value.report("a rule has at most \(conditionLimit) conditions") }
        return all.prefix(conditionLimit).map { RulePolicy.Condition($0.entry, $0.value, in: section.path) }
    }

    /// One of the words of a type.
    private static func word<Word: RawRepresentable & CaseIterable>(_ value: YAMLValue) -> Word?
    where Word.RawValue == String {
        guard let text = value.decode(String.self) else { return nil }
        guard let word = Word(exactly: text) else {
            let known = Word.allCases.map(\.rawValue)
            value.report(
                "expected \(known.dropLast().joined(separator: ", ")) or \(known.last ?? "")",
                hint: Spelling.suggestion(for: text, among: known).map { "did you mean `\($0)`?" })
            return nil
        }
        return word
    }
}

/// Whether what a rule says happens.
enum RuleEnforcement: String, CaseIterable {
    static let key = "enforcement"

    /// It happens.
    case enforced
    /// It is only recorded.
    case shadow
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
