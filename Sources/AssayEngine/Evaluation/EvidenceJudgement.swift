package import AssayCore
package import AssayKit
package import AssayPolicy

/// What policies say of evidence that a provider has verified.
package enum EvidenceJudgement: Sendable {
    /// An entry of a deny list refuses it.
    case denied(Denial, DenialSource)
    /// The rules were asked.
    case judged(RuleSet.Judgement)

    /// Why it is refused; nil where a token is issued.
    package var refusal: (reason: Reason, detail: String)? {
        switch self {
        case .denied(let denial, _): (KernelReasons.evidenceDenied, denial.words)
        case .judged(let judgement):
            if let rule = judgement.rule, rule.effect == .refuse {
                (KernelReasons.ruleRefused, "the rule \(rule.name)")
            } else {
                nil
            }
        }
    }

    /// The rule that decides; nil for none.
    package var rule: RulePolicy? {
        if case .judged(let judgement) = self { judgement.rule } else { nil }
    }

    /// The rules that matched, for a record.
    package var findings: RuleFindings {
        if case .judged(let judgement) = self { RuleFindings(judgement) } else { RuleFindings() }
    }

    /// The mark in the token's claims; nil for none.
    package var mark: String? { rule.flatMap { $0.addsClaim ? $0.name : nil } }
}

extension Denials {
    /// Judges verified evidence by the deny lists, then by the rules of its app: the only place where that is decided.
    ///
    /// - Parameters:
    ///   - facts: what the evidence says, as the provider has verified it.
    ///   - rules: the app's rules over facts of the provider; nil for none.
    package func judge(
        _ facts: [Fact], of app: AppIdentity, by provider: String, rules: RuleSet?, at now: Instant
    ) -> EvidenceJudgement {
        if let (denial, source) = first({ $0.denial(of: facts, provider: provider, app: app, at: now) }) {
            return .denied(denial, source)
        }
        return .judged(rules?.judge(facts, provider: provider) ?? RuleSet.Judgement())
    }
}
