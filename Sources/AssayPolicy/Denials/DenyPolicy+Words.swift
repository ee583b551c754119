package import AssayCore
package import AssayKit
package import AssayYAML

extension DenyPolicy {
    /// What the entry refuses, until when and why, in words: `evidence whose key_id is R7et…, until 2027-01-01T00:00:00Z: incident 42`.
    package var words: String {
        var words: String
        switch subject {
        case .token(let id): words = "the token whose jti is \(EffectiveValue.shown(id.string))"
        case .facts(let conditions):
            words = "evidence whose \(conditions.flatMap(\.words).joined(separator: " and "))"
        }
        if let until { words += ", until \(until)" }
        if let note { words += ": \(EffectiveValue.shown(note))" }
        return words
    }

    /// The entry as its file has it.
    package var value: EffectiveValue { EffectiveValue(node) }

    /// The place of the entry in its file.
    package var location: SourceLocation { node.location }

    /// Whether the entry is about a token, which it names by its `jti`.
    package var isOfToken: Bool {
        if case .token = subject { true } else { false }
    }

    /// Whether the entry is about an app or OAuth client, or about all.
    package func concerns(_ app: AppIdentity) -> Bool {
        (self.app.map { $0.isExactly(app.subject) } ?? true)
            && (project.map { $0.isExactly(app.project.number) } ?? true)
    }

    /// Whether the entry can be about evidence of a provider.
    ///
    /// - Parameter facts: the facts that the provider declares.
    package func concernsEvidence(of provider: String, facts: [FactName]) -> Bool {
        guard case .facts(let conditions) = subject else { return false }
        let known = Set(facts.map { ExactText($0.text) } + [ExactText(RuleSet.provider)])
        guard conditions.allSatisfy({ known.contains(ExactText($0.fact)) }) else { return false }
        let type = FactName(RuleSet.provider, .text)
        let matcher = FactMatcher(
            conditions.filter { $0.fact.isExactly(RuleSet.provider) }, types: [ExactText(RuleSet.provider): type.type],
            unknown: nil, problems: DiagnosticSink())
        return matcher.matches(RuleSet.values([], provider: provider))
    }

    /// Whether tokens that were issued to an attester are refused by the entry: it names values of the one fact that identifies it.
    ///
    /// - Parameter facts: the facts that the provider declares.
    package func refusesTokens(ofAttestersBy facts: [FactName]) -> Bool {
        guard case .facts(let conditions) = subject, conditions.count == 1, let only = conditions.first,
            only.tests.count == 1, let test = only.tests.first, [.equal, .among].contains(test.comparison)
        else { return false }
        return facts.contains { $0.text.isExactly(only.fact) && $0.identifiesAttester }
    }
}
