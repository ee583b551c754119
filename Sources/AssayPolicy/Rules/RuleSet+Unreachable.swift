internal import AssayCore
package import AssayYAML

extension RuleSet {
    /// Warns of rules of an app that decide nothing, whatever evidence comes: their conditions contradict each other, or an earlier rule
    /// matches all that they match.
    ///
    /// - Parameter sets: the same rules for the evidence of each provider of the app.
    package static func reportUnreachable(_ sets: [RuleSet], to warnings: DiagnosticSink) {
        let all = sets.map { $0.rules.map(Coverage.init) }
        guard let first = all.first, all.allSatisfy({ $0.count == first.count }) else { return }
        for (index, coverage) in first.enumerated() {
            if let condition = coverage.contradiction, all.allSatisfy({ $0[index].contradiction != nil }) {
                warnings.report(
                    condition.entry.diagnostic(
                        "the conditions on `\(condition.fact)` contradict each other", in: condition.path,
                        hint: "the rule `\(coverage.policy.name)` never matches", severity: .warning))
                continue
            }
            // Of a rule before it that matches everything, the loader has warned.
            guard !first[..<index].contains(where: { $0.policy.matchesAll && !$0.policy.isShadow }),
                let hiding = (0..<index).first(where: { earlier in
                    all.allSatisfy { $0[earlier].hides($0[index]) }
                })
            else { continue }
            let other = first[hiding].policy
            warnings.report(
                coverage.policy.node.diagnostic(
                    "no evidence comes to this rule: `\(other.name)` before it matches all that it matches",
                    path: coverage.policy.path, related: [.init(location: other.location, message: "the earlier rule")],
                    severity: .warning))
        }
    }

    /// What a rule matches.
    private struct Coverage {
        let policy: RulePolicy
        private let ranges: [ExactText: FactRange]

        init(_ rule: Rule) {
            policy = rule.policy
            ranges = Dictionary(
                rule.matcher.conditions.map { ($0.fact, FactRange($0)) }, uniquingKeysWith: { first, _ in first })
        }

        /// The first condition that nothing fulfils.
        var contradiction: RulePolicy.Condition? {
            policy.conditions.first { ranges[ExactText($0.fact)]?.isEmpty ?? false }
        }

        /// Whether evidence that another rule matches is decided by this one, if it comes to it.
        func hides(_ other: Coverage) -> Bool {
            // A condition whose fact is unknown here is missing from the ranges.
            guard !policy.isShadow, ranges.count == policy.conditions.count else { return false }
            return ranges.allSatisfy { fact, range in other.ranges[fact].map { $0.isWithin(range) } ?? false }
        }
    }
}
