internal import AssayCore
internal import AssayKit
package import AssayPolicy

/// The metrics of rules over facts.
enum RuleMetrics {
    private static let matches = Metric.counter(
        "rule_matches_total",
        "Verified evidence that a rule of the policy matched; `shadow_` is in front of the effect of what is in shadow, "
            + "which may be a provider's settings: then the rule is `PROVIDER:REASON`, or the provider alone for `shadow_undecided`.",
        labels: [
            .open("app", atMost: 16_384), .open("rule", atMost: 1024),
            .init("effect", effects + [undecided]),
        ])

    private static let undecided = "shadow_undecided"
    private static let effects = RulePolicy.Effect.allCases.flatMap { [$0.rawValue, "shadow_\($0.rawValue)"] }

    static let all = [matches]

    /// Counts accepted evidence that shadow settings refuse, or cannot judge.
    static func countShadow(_ name: String, of app: String, isDecided: Bool, on meter: Meter) {
        meter.add(to: matches, app, name, isDecided ? "shadow_\(RulePolicy.Effect.refuse.rawValue)" : undecided)
    }

    static func count(_ judgement: RuleSet.Judgement, of app: String, on meter: Meter) {
        for rule in judgement.shadows { meter.add(to: matches, app, rule.name, "shadow_\(rule.effect.rawValue)") }
        if let rule = judgement.rule { meter.add(to: matches, app, rule.name, rule.effect.rawValue) }
    }
}

extension RuleFindings {
    package init(_ judgement: RuleSet.Judgement) {
        self.init(
            decided: judgement.rule.map { ExactText($0.name) },
            wouldRefuse: judgement.shadows.filter { $0.effect == .refuse }.map { ExactText($0.name) })
    }
}
