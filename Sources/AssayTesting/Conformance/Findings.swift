internal import AssayCore
internal import AssayKit

/// What the calls of all checks together showed.
final class Findings: Sendable {
    private let benches = SharedList<ConformanceHarness>()

    func add(_ bench: ConformanceHarness) { benches.append(bench) }

    /// The last lines of a report.
    var lines: [ConformanceReport.Line] {
        [
            ConformanceReport.Line(
                "secrecy", "no message, record or log line has a secret or evidence", outcome(\.leaks)),
            ConformanceReport.Line("contract", "no call broke the contract", outcome(\.brokenContracts)),
        ]
    }

    private func outcome(_ texts: (ConformanceHarness) -> [String]) -> ConformanceReport.Outcome {
        var seen: Set<ExactText> = []
        let found = benches.all.flatMap(texts).filter { seen.insert(ExactText($0)).inserted }
        return found.isEmpty ? .passed(calls: benches.all.reduce(0) { $0 + $1.calls }) : .failed(Array(found.prefix(5)))
    }
}
