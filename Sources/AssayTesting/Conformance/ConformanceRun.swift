internal import AssayKit
internal import Synchronization

/// One running check: its findings and its calls.
final class ConformanceRun: Sendable {
    private struct State {
        var findings: [String] = []
        var omitted = 0
        var calls = 0
        var reason: String?
        var overlooked: [String] = []
    }

    /// Why a check ends early.
    enum Early: Error {
        /// Its time is over: what remains is not looked at.
        case outOfTime
        /// Calls of the plugin do not end.
        case stuck
    }

    private static let limit = 5

    private let state = Mutex(State())
    private let end: ContinuousClock.Instant?
    private let isStuck: @Sendable () -> Bool

    /// - Parameters:
    ///   - end: when what remains is no longer looked at; nil for never.
    ///   - isStuck: whether calls of the plugin do not end.
    init(until end: ContinuousClock.Instant? = nil, isStuck: @escaping @Sendable () -> Bool = { false }) {
        self.end = end
        self.isStuck = isStuck
    }

    /// Ends the check when its time is over, or calls do not end; called before each piece of work.
    func checkTime() throws(Early) {
        if isStuck() { throw .stuck }
        if let end, ContinuousClock.now >= end { throw .outOfTime }
    }

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

    /// Says what the check cannot look at, and why; findings count anyway.
    func overlook(_ what: String) {
        let text = String(what.prefix(480))
        state.withLock { state in
            if !state.overlooked.contains(text) { state.overlooked.append(text) }
        }
    }

    /// How the check ended.
    var outcome: ConformanceReport.Outcome {
        state.withLock { state in
            if !state.findings.isEmpty {
                return .failed(state.findings + (state.omitted > 0 ? ["and \(state.omitted) more"] : []))
            }
            if !state.overlooked.isEmpty {
                return .notLookedAt(state.overlooked.joined(separator: "; "), calls: state.calls)
            }
            if let reason = state.reason, state.calls == 0 { return .notApplicable(reason) }
            return .passed(calls: state.calls)
        }
    }
}
