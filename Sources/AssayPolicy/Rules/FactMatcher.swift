internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Demands on facts, whose values were read by the facts' types.
struct FactMatcher: Sendable {
    /// One demand: all of its tests must hold.
    struct Condition: Sendable {
        let fact: ExactText
        let type: FactType
        let tests: [FactTest]
        /// The place of the demand in its file.
        let location: SourceLocation

        func holds(for facts: [ExactText: Fact.Value]) -> Bool {
            let value = facts[fact].flatMap { ComparableFact($0, type) }
            return tests.allSatisfy { $0.holds(for: value) }
        }
    }

    let conditions: [Condition]

    /// Reads the values of conditions.
    ///
    /// - Parameters:
    ///   - types: the types of the known facts.
    ///   - unknown: the problem of a fact that is not known; nil where unknown ones are passed over.
    init(
        _ conditions: [RulePolicy.Condition], types: [ExactText: FactType],
        unknown: ((RulePolicy.Condition) -> Diagnostic)?, problems sink: DiagnosticSink
    ) {
        self.conditions = conditions.compactMap { condition in
            guard let type = types[ExactText(condition.fact)] else {
                if let unknown { sink.report(unknown(condition)) }
                return nil
            }
            condition.entry.showsValue()
            let tests = condition.tests.compactMap { test in
                Self.test(test.comparison, YAMLValue(test.value, path: test.path, sink: sink), condition.fact, type)
            }
            return Condition(
                fact: ExactText(condition.fact), type: type, tests: tests, location: condition.entry.keyLocation)
        }
    }

    /// Whether all demands are fulfilled.
    func matches(_ facts: [ExactText: Fact.Value]) -> Bool {
        conditions.allSatisfy { $0.holds(for: facts) }
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
        FactReader.read(value, of: fact, type).flatMap { ComparableFact($0, type) }
    }
}
