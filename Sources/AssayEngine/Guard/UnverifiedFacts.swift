internal import AssayCore
package import AssayKit

/// The facts that need not be verified, as records keep them.
struct UnverifiedFacts {
    /// Those that are of their types.
    let kept: [Fact]
    /// What was dropped, in words; nil for nothing.
    let dropped: String?

    /// A detail that also says what was dropped.
    func adding(to detail: String?) -> String? {
        let texts = [detail, dropped].compactMap(\.self)
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }
}

extension PluginGuard {
    /// The first facts of those that could be read of a request, without the ill-typed ones.
    func unverified(_ facts: [Fact]) -> UnverifiedFacts {
        let first = facts.prefix(PluginGuard.factLimit)
        let kept = first.filter { isWellTyped($0) }
        var seen: Set<ExactText> = []
        let wrong = first.filter { !isWellTyped($0) && seen.insert(ExactText($0.name.text)).inserted }
        var words: [String] = []
        if !wrong.isEmpty {
            let names = wrong.map { SafeText.of($0.name.text) }.joined(separator: ", ")
            words.append("dropped facts whose values are not of their types: \(names)")
        }
        if facts.count > first.count { words.append("dropped all facts after the first \(PluginGuard.factLimit)") }
        return UnverifiedFacts(kept: kept, dropped: words.isEmpty ? nil : words.joined(separator: "; "))
    }

    /// The verdict as it counts: a refusal without its ill-typed facts, which its detail names.
    package func recordable(_ verdict: Verdict) -> Verdict {
        guard case .refused(let reason, let detail, let facts) = verdict, !facts.isEmpty else { return verdict }
        let unverified = unverified(facts)
        return .refused(reason, detail: unverified.adding(to: detail), facts: unverified.kept)
    }
}
