internal import AssayKit
internal import Synchronization

/// One running check: its findings and its calls.
final class ConformanceRun: Sendable {
    private struct State {
        var findings: [String] = []
        var omitted = 0
        var calls = 0
        var reason: String?
    }

    private static let limit = 5

    private let state = Mutex(State())

    /// Takes down what a plugin did against a rule.
    func expect(_ holds: Bool, _ finding: @autoclosure () -> String) {
        guard !holds else { return }
        let text = String(finding().prefix(240))
        state.withLock { state in
            if state.findings.count < Self.limit {
                if !state.findings.contains(text) { state.findings.append(text) }
            } else {
                state.omitted += 1
            }
        }
    }

    /// Adds calls to those of the check.
    func count(_ calls: Int) {
        state.withLock { $0.calls += calls }
    }

    /// Says why the rule is none for the plugin; findings count anyway.
    func skip(_ reason: String) {
        state.withLock { $0.reason = reason }
    }

    /// How the check ended.
    var outcome: ConformanceReport.Outcome {
        state.withLock { state in
            if !state.findings.isEmpty {
                return .failed(state.findings + (state.omitted > 0 ? ["and \(state.omitted) more"] : []))
            }
            if let reason = state.reason, state.calls == 0 { return .notApplicable(reason) }
            return .passed(calls: state.calls)
        }
    }
}
