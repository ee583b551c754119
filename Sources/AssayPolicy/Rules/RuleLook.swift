package import AssayCore
package import AssayYAML

/// How one rule looked at some evidence, for tests of policies.
package struct RuleLook: Sendable {
    /// What a rule demands of one fact: an entry of `when`.
    package struct Demand: Sendable, Hashable {
        /// The name of the fact.
        package let fact: ExactText
        /// The place of the demand.
        package let location: SourceLocation

        init(fact: String, location: SourceLocation) {
            self.fact = ExactText(fact)
            self.location = location
        }
    }

    /// The rule.
    package let rule: RulePolicy
    /// What it demands, and whether that held.
    package let demands: [(demand: Demand, holds: Bool)]

    /// Whether the rule matched.
    package var matches: Bool { demands.allSatisfy(\.holds) }
}
