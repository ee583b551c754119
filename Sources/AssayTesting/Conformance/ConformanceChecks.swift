internal import AssayKit

/// Runs checks one after the other, each within a limit of real time.
struct ConformanceChecks: Sendable {
    typealias Check = @Sendable (ConformanceRun) async throws -> Void

    /// A check, its name and its rule.
    typealias Named = (check: String, rule: String, run: Check)

    /// What one check may take; what it could not do then is not looked at.
    var longestCheck = Duration.seconds(40)
    /// What all checks may take together.
    var longestSuite = Duration.seconds(120)

    func run(_ checks: [Named], _ findings: Findings) async -> [ConformanceReport.Line] {
        let start = ContinuousClock.now
        var lines: [ConformanceReport.Line] = []
        for (check, rule, body) in checks {
            let left = longestSuite - (ContinuousClock.now - start)
            let outcome: ConformanceReport.Outcome =
                left > .zero
                ? await outcome(of: body, within: min(longestCheck, left), findings)
                : .notLookedAt("the checks before took \(longestSuite.components.seconds) s", calls: 0)
            lines.append(.init(check, rule, outcome))
        }
        return lines
    }

    private func outcome(
        of check: @escaping Check, within limit: Duration, _ findings: Findings
    ) async -> ConformanceReport.Outcome {
        guard !findings.isStuck else {
            return .notLookedAt("calls of the plugin do not end: see the checks before", calls: 0)
        }
        let current = ConformanceRun(until: .now + limit) { findings.isStuck }
        let task = Task {
            do {
                try await check(current)
            } catch ConformanceRun.Early.outOfTime {
                current.overlook("what was left after \(limit.components.seconds) s")
            } catch ConformanceRun.Early.stuck {
                current.expect(false, "calls of the plugin do not end, or only when they are abandoned")
            } catch {
                current.expect(false, "threw \(error)")
            }
        }
        if await FirstAnswer.of(task, within: limit + ConformanceHarness.patience * 2).isAbsent {
            task.cancel()
            findings.giveUp()
            current.expect(false, "the check did not end")
        }
        return current.outcome
    }
}
