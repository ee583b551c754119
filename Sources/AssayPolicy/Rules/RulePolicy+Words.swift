internal import AssayCore
internal import AssayYAML

extension RulePolicy {
    /// What the rule demands and does, in words: `refuse when os_version is below 26.2 and environment is production`.
    package var words: String {
        let demands = conditions.flatMap(\.words)
        let when = demands.isEmpty ? "always" : "when \(demands.joined(separator: " and "))"
        return "\(effect.rawValue) \(when)\(addsClaim ? "; tokens name the rule" : "")\(isShadow ? "; in shadow" : "")"
    }
}

extension RulePolicy.Condition {
    /// What is demanded, a text for each comparison: `os_version is below 26.2`.
    var words: [String] {
        tests.map { test in
            let value = EffectiveValue(test.value)
            let list = value.elements.map { $0.map(\.short).joined(separator: ", ") } ?? value.short
            return "\(EffectiveValue.shown(fact)) \(test.comparison.phrase(list))"
        }
    }
}

extension Comparison {
    fileprivate func phrase(_ value: String) -> String {
        switch self {
        case .equal: "is \(value)"
        case .different: "is known and not \(value)"
        case .among: "is one of \(value)"
        case .notAmong: "is known and none of \(value)"
        case .below: "is below \(value)"
        case .atMost: "is at most \(value)"
        case .above: "is above \(value)"
        case .atLeast: "is at least \(value)"
        case .known: value.isExactly("true") ? "is known" : "is not known"
        }
    }
}

extension RulePolicy {
    /// The facts that it is about.
    package var facts: [String] { conditions.map(\.fact) }
}

extension EffectiveValue {
    /// A duration as policies write it.
    package static func words(_ duration: Duration) -> String { DurationText.text(duration) }
}
