internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy

/// What the deny list of policies says of a call; entries that were added to a server are in no file.
extension PolicyView {
    /// So many entries are listed.
    private static let entryLimit = 20
    private static let elsewhere = "entries that administrators added to the server are not in the policy files"

    /// The step after evidence was verified.
    func explainDenials(of app: AppBinding, _ provider: String, _ explanation: inout CallExplanation) {
        explanation.add(
            .depends,
            "the deny list is asked before any rule, and refuses evidence as evidence_denied; \(Self.elsewhere)")
        let facts = registry.providers[provider]?.descriptor.facts ?? []
        list(
            policies.denials.filter {
                $0.concerns(app.identity) && $0.concernsEvidence(of: provider, facts: facts)
            }, .depends, &explanation)
    }

    /// The step after a token was verified.
    ///
    /// - Parameter isEnforced: whether a token that is refused stops the request.
    func explainDenials(ofTokensIn project: ProjectIdentity, isEnforced: Bool, _ explanation: inout CallExplanation) {
        let effect = isEnforced ? "refuses tokens as token_denied" : "would refuse tokens as token_denied"
        let step: CallExplanation.Effect = isEnforced ? .depends : .note
        explanation.add(
            step,
            "the deny list is asked, by the `jti` and by the key that the token was issued for, and \(effect); "
                + Self.elsewhere)
        let apps = policies.apps.filter { $0.identity.project.number.isExactly(project.number) }
        list(
            policies.denials.filter { entry in
                apps.contains { app in
                    guard entry.concerns(app.identity) else { return false }
                    return entry.isOfToken
                        || app.providers.contains { provider in
                            let facts = registry.providers[provider.name]?.descriptor.facts ?? []
                            return entry.refusesTokens(ofAttestersBy: facts)
                        }
                }
            }, step, &explanation)
    }

    /// The entries that are in force; those that have ended refuse nothing.
    private func list(
        _ entries: [DenyPolicy], _ step: CallExplanation.Effect, _ explanation: inout CallExplanation
    ) {
        let present = entries.filter { entry in entry.until.map { now < $0 } ?? true }
        for entry in present.prefix(Self.entryLimit) {
            explanation.add(step, "deny \(entry.words)", at: entry.location)
        }
        let rest = present.count - Self.entryLimit
        if rest > 0 {
            explanation.add(.note, "and \(rest.counting("further entry", "further entries")) of the deny list")
        }
    }
}
