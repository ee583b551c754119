package import AssayCore
package import AssayYAML

/// Says which entries of a deny list can never match: one provider must tell all facts of an entry, and where the entry applies, an
/// app must have that provider.
package struct DenyScope: Sendable {
    private let facts: [ExactText: [FactName]]
    private let known: [ExactText: Set<ExactText>]
    /// The providers of each app and OAuth client, by its ID.
    private let apps: [ExactText: Set<ExactText>]
    private let providers: [ExactText]
    /// The providers that apps have.
    private let used: [ExactText]

    /// - Parameters:
    ///   - facts: the facts of each provider of the program.
    ///   - apps: the ID of each app that entries may be about, with the names of its providers.
    package init(facts: [ExactText: [FactName]], apps: [(id: ExactText, providers: [ExactText])]) {
        self.facts = facts
        known = facts.mapValues { Set($0.map { ExactText($0.text) }) }
        providers = facts.keys.sorted()
        self.apps = Dictionary(apps.map { ($0.id, Set($0.providers)) }, uniquingKeysWith: { $0.union($1) })
        used = self.apps.values.reduce(into: Set<ExactText>()) { $0.formUnion($1) }.sorted()
    }

    /// Reports an entry that no evidence can fulfil.
    ///
    /// What the values of its facts must be, and whether a fact exists at all, ``DenyList`` reports.
    ///
    /// - Parameter warnings: takes the problem of an entry of the policy files that is about no certain app: an app that it is meant for
    ///   may still come.
    package func report(_ policy: DenyPolicy, to problems: DiagnosticSink, warnings: DiagnosticSink) {
        guard case .facts(let conditions) = policy.subject,
            conditions.allSatisfy({ condition in providers.contains { fulfils(condition, $0) } })
        else { return }
        for condition in conditions { condition.entry.showsValue() }
        if let problem = problem(of: conditions, among: providers, "no provider", policy) {
            return problems.report(problem)
        }
        let isOfFiles = policy.project.isNil
        if let app = policy.app {
            guard let own = apps[ExactText(app)]?.sorted(), !isOfFiles || !own.isEmpty else { return }
            if let problem = problem(of: conditions, among: own, "no provider of the app `\(app)`", policy) {
                problems.report(problem)
            }
        } else if !isOfFiles || !used.isEmpty {
            let place = "no app of the \(isOfFiles ? "policies" : "project") has a provider that"
            let severity = isOfFiles ? Diagnostic.Severity.warning : .error
            if let problem = problem(of: conditions, among: used, place, policy, severity) {
                (isOfFiles ? warnings : problems).report(problem)
            }
        }
    }

    /// The first condition that, with those before it, none of some providers can fulfil.
    private func problem(
        of conditions: [RulePolicy.Condition], among scope: [ExactText], _ nobody: String, _ policy: DenyPolicy,
        _ severity: Diagnostic.Severity = .error
    ) -> Diagnostic? {
        var left = scope
        for (index, condition) in conditions.enumerated() {
            left.removeAll { !fulfils(condition, $0) }
            guard left.isEmpty else { continue }
            let isToldAlone = scope.contains { fulfils(condition, $0) }
            let words: String
            if isToldAlone {
                let facts = conditions[...index].map { "`\($0.fact)`" }
                words = "tells \(facts.dropLast().joined(separator: ", ")) and \(facts.last ?? "") together"
            } else if condition.fact.isExactly(RuleSet.provider) {
                words = "is one that `\(RuleSet.provider)` names"
            } else {
                words = "tells the fact `\(condition.fact)`"
            }
            return condition.entry.diagnostic(
                "\(nobody) \(words)", in: condition.path,
                hint: isToldAlone
                    ? "an entry is about the evidence of one provider: write an entry for each"
                    : hint(for: condition, among: scope, isOfFiles: policy.project.isNil), severity: severity)
        }
        return nil
    }

    /// Whether evidence of a provider can fulfil a condition.
    private func fulfils(_ condition: RulePolicy.Condition, _ provider: ExactText) -> Bool {
        guard condition.fact.isExactly(RuleSet.provider) else {
            return known[provider]?.contains(ExactText(condition.fact)) ?? false
        }
        let matcher = FactMatcher(
            [condition], types: [ExactText(RuleSet.provider): .text], unknown: nil, problems: DiagnosticSink())
        return matcher.matches(RuleSet.values([], provider: provider.string))
    }

    private func hint(for condition: RulePolicy.Condition, among scope: [ExactText], isOfFiles: Bool) -> String? {
        guard !condition.fact.isExactly(RuleSet.provider) else {
            return Spelling.hint(for: "", among: scope.map(\.string))
        }
        let isOfAttesters = facts.values.contains { names in
            names.contains { $0.identifiesAttester && $0.text.isExactly(condition.fact) }
        }
        let told = scope.flatMap { facts[$0] ?? [] }
        if isOfAttesters, let hint = Self.identification(told, showsOption: !isOfFiles) { return hint }
        return Spelling.hint(
            for: condition.fact, among: Set(told.map { ExactText($0.text) }).sorted().map(\.string))
    }

    /// Which facts name the key or the account of an attester; nil when none of some facts does.
    ///
    /// - Parameter showsOption: whether the option of `deny add` is shown, too.
    static func identification(_ facts: [FactName], showsOption: Bool) -> String? {
        let names = Set(facts.filter(\.identifiesAttester).map { ExactText($0.text) }).sorted()
        guard let first = names.first else { return nil }
        let listed = names.map { "`\($0)`" }.joined(separator: " or ")
        return "here an attester is identified by \(listed)" + (showsOption ? ": `--fact \(first)=VALUE`" : "")
    }
}
