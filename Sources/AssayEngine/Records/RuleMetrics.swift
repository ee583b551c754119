internal import AssayCore
internal import AssayHosting
internal import AssayPolicy

/// The metrics of rules over facts.
enum RuleMetrics {
    private static let matches = Metric.counter(
        "rule_matches_total",
        "Verified evidence that a rule of the policy matched; `shadow_` is in front of the effect of a rule that is only tried.",
        labels: [
            .open("app", atMost: 16_384), .open("rule", atMost: 1024),
            .init("effect", RulePolicy.Effect.allCases.flatMap { [$0.rawValue, "shadow_\($0.rawValue)"] }),
        ])

    static let all = [matches]

    static func count(_ judgement: RuleSet.Judgement, of app: String, on meter: Meter) {
        for rule in judgement.shadows { meter.add(to: matches, app, rule.name, "shadow_\(rule.effect.rawValue)") }
        if let rule = judgement.rule { meter.add(to: matches, app, rule.name, rule.effect.rawValue) }
    }
}

extension RuleFindings {
    init(_ judgement: RuleSet.Judgement) {
        self.init(
            decided: judgement.rule.map { ExactText($0.name) },
            wouldRefuse: judgement.shadows.filter { $0.effect == .refuse }.map { ExactText($0.name) })
    }
}
