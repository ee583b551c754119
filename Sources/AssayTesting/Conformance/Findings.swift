internal import AssayCore
internal import AssayKit

/// What the calls of all checks together showed.
final class Findings: Sendable {
    private let benches = SharedList<ConformanceHarness>()
    private let gaveUp = Flag()
    /// How many calls may end only because they are abandoned, before no further ones are made.
    private static let patience = 2

    func add(_ bench: ConformanceHarness) { benches.append(bench) }

    /// Makes no further calls.
    func giveUp() { gaveUp.set() }

    /// Whether calls of the plugin do not end.
    var isStuck: Bool {
        if gaveUp.isSet { return true }
        let counts = benches.all.map(\.unanswered)
        return counts.contains { $0.never > 0 } || counts.reduce(0) { $0 + $1.late } > Self.patience
    }

    /// The last lines of a report.
    ///
    /// - Parameters:
    ///   - descriptor: what the plugin declares.
    ///   - hasSecrets: whether the author named further texts that are secrets.
    func lines(_ descriptor: PluginDescriptor, hasSecrets: Bool) -> [ConformanceReport.Line] {
        let all = benches.all
        return [
            ConformanceReport.Line(
                "reasons", "each declared reason is produced",
                notProduced(
                    "reasons", descriptor.reasons.map { ExactText($0.code) }, Set(all.flatMap { $0.produced.reasons }))
            ),
            ConformanceReport.Line(
                "facts", "each declared fact is produced, with a value of its type",
                notProduced(
                    "facts", descriptor.facts.map { ExactText($0.text) }, Set(all.flatMap { $0.produced.facts }))
            ),
            ConformanceReport.Line(
                "secrecy", "no message, record or log line has a secret or evidence", secrecy(hasSecrets)),
            ConformanceReport.Line("contract", "no call broke the contract", outcome(\.brokenContracts)),
        ]
    }

    private func notProduced(_ what: String, _ declared: [ExactText], _ found: Set<ExactText>)
        -> ConformanceReport.Outcome
    {
        let missing = declared.filter { !found.contains($0) }.map(\.string)
        guard !missing.isEmpty else { return .passed(calls: 0) }
        return .notLookedAt("\(what) that no call produced: \(missing.joined(separator: ", "))", calls: 0)
    }

    private func secrecy(_ hasSecrets: Bool) -> ConformanceReport.Outcome {
        let found = outcome(\.leaks)
        guard case .passed(let calls) = found, !hasSecrets, !benches.all.contains(where: \.hasSecrets) else {
            return found
        }
        return .notLookedAt("secrets: the plugin was given none, and `secretTexts` is empty", calls: calls)
    }

    private func outcome(_ texts: (ConformanceHarness) -> [String]) -> ConformanceReport.Outcome {
        var seen: Set<ExactText> = []
        let found = benches.all.flatMap(texts).filter { seen.insert(ExactText($0)).inserted }
        return found.isEmpty ? .passed(calls: benches.all.reduce(0) { $0 + $1.calls }) : .failed(Array(found.prefix(5)))
    }
}
