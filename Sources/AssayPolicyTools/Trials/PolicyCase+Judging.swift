internal import AssayCore
internal import AssayEngine
internal import AssayPolicy
internal import AssayYAML

extension PolicyCase {
    /// Compares what was found with what is expected.
    ///
    /// - Parameter looks: how the rules looked at the evidence; empty if they were not asked.
    func result(_ finding: PolicyFinding, looks: [RuleLook] = []) -> PolicyTestResult {
        let mismatches: [Diagnostic]
        switch expectation {
        case .permission(let expected):
            let isMet = finding.permission == expected.value
            mismatches = isMet ? [] : [expected.mismatch("`\(expected.value.rawValue)`", "`\(finding.words)`")]
        case .verdict(let expected):
            mismatches = expected.mismatches(finding, looks, question)
        }
        return PolicyTestResult(self, mismatches.isEmpty ? .passed : .failed(mismatches), finding)
    }
}

extension VerdictExpectation {
    fileprivate func mismatches(
        _ finding: PolicyFinding, _ looks: [RuleLook], _ question: PolicyCase.Question
    ) -> [Diagnostic] {
        var found: [Diagnostic] = []
        if verdict.value != finding.verdict {
            found.append(
                verdict.mismatch(
                    "`\(verdict.value.rawValue)`", finding.verdict.map { "`\($0.rawValue)`" } ?? "no verdict"))
        }
        if let reason, !reason.value.isExactly(finding.reason?.code ?? "") {
            found.append(reason.mismatch("`\(reason.value)`", Self.shown(finding.reason?.code)))
        }
        if let rule, !rule.value.isExactly(finding.rule?.string) {
            let hint = rule.value.flatMap { Self.hint($0, finding, looks, question) }
            found.append(rule.mismatch(Self.shown(rule.value), Self.shown(finding.rule?.string), hint: hint))
        }
        for (expected, names) in [(marks, finding.marks), (wouldRefuse, finding.wouldRefuse)] {
            if let expected { found += Self.mismatches(expected, names, finding, looks, question) }
        }
        return found + tokenMismatches(finding.token)
    }

    /// Compares lists of names, in any order.
    private static func mismatches(
        _ expected: Expected<[String]>, _ found: [ExactText], _ finding: PolicyFinding, _ looks: [RuleLook],
        _ question: PolicyCase.Question
    ) -> [Diagnostic] {
        let (wanted, names) = (Set(exactly: expected.value), Set(found))
        guard wanted != names else { return [] }
        let missing = wanted.subtracting(names).sorted().first
        return [
            expected.mismatch(
                shown(wanted.sorted()), shown(names.sorted()),
                hint: missing.flatMap { hint($0.string, finding, looks, question) })
        ]
    }

    /// Why a rule is not among those that matched.
    private static func hint(
        _ name: String, _ finding: PolicyFinding, _ looks: [RuleLook], _ question: PolicyCase.Question
    ) -> String? {
        if let hint = question.hint(aboutTried: name, finding) { return hint }
        let rules = question.subject?.app.rules ?? []
        guard let rule = rules.first(where: { $0.name.isExactly(name) }) else {
            return "the app has no rule `\(name)`"
                + (Spelling.suggestion(for: name, among: rules.map(\.name)).map { ": did you mean `\($0)`?" } ?? "")
        }
        guard finding.asksRules else { return finding.ending.map { "no rule is asked: \($0)" } }
        guard let look = looks.first(where: { $0.rule.name.isExactly(name) }) else {
            return "an earlier rule decides, before `\(name)` at \(rule.location)"
        }
        let lacking = look.demands.filter { !$0.holds }.map { "`\($0.demand.fact)` at \($0.demand.location)" }
        guard !lacking.isEmpty else { return "the rule is at \(rule.location)" }
        return "the rule does not match, because of \(lacking.joined(separator: " and "))"
    }

    private func tokenMismatches(_ token: PolicyFinding.Token?) -> [Diagnostic] {
        guard let token else {
            let first =
                lifetime.map { $0.mismatch("a token", "none") } ?? limitedUse.map { $0.mismatch("a token", "none") }
            return (first ?? claims.first.map { $0.value.mismatch("a token", "none") }).map { [$0] } ?? []
        }
        var found: [Diagnostic] = []
        if let lifetime, lifetime.value != token.lifetime {
            found.append(
                lifetime.mismatch(
                    lifetime.value.components.seconds.counting("second"),
                    token.lifetime.components.seconds.counting("second")))
        }
        if let limitedUse, limitedUse.value != token.isForLimitedUse {
            found.append(limitedUse.mismatch("\(limitedUse.value)", "\(token.isForLimitedUse)"))
        }
        for (name, claim) in claims {
            let value = token.claims[name] ?? .null
            guard claim.value != value else { continue }
            found.append(claim.mismatch(Self.shown(claim.value), Self.shown(value)))
        }
        return found
    }

    private static func shown(_ name: String?) -> String { name.map { "`\($0)`" } ?? "none" }

    private static func shown(_ names: [ExactText]) -> String {
        names.isEmpty ? "none" : names.map { "`\($0)`" }.joined(separator: ", ")
    }

    private static func shown(_ value: JSON) -> String {
        if case .null = value { return "none" }
        return SafeText.of(String(decoding: value.encoded, as: UTF8.self))
    }
}

extension PolicyCase.Question {
    /// Why shadow settings are not found to refuse; nil for the name of a rule, which has no colon.
    fileprivate func hint(aboutTried name: String, _ finding: PolicyFinding) -> String? {
        guard let colon = name.firstIndex(ofASCII: ":"), let provider = subject?.provider else { return nil }
        guard case .device = self else { return "settings in `shadow` are judged in tests with `device`" }
        guard provider.name.isExactly(String(name[..<colon])) else {
            return "the test is about evidence of the provider `\(provider.name)`"
        }
        guard provider.shadow != nil else { return "the provider `\(provider.name)` has no settings in `shadow`" }
        return finding.verdict == .accepted
            ? "the settings in `shadow` do not refuse it so, or would have to call another server"
            : "settings in `shadow` judge only what is accepted"
    }
}
