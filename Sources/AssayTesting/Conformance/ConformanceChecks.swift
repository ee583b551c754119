internal import AssayKit

/// Runs checks one after the other.
enum ConformanceChecks {
    typealias Check = @Sendable (ConformanceRun) async throws -> Void

    /// A check, its name and its rule.
    typealias Named = (check: String, rule: String, run: Check)

    static func run(_ checks: [Named]) async -> [ConformanceReport.Line] {
        var lines: [ConformanceReport.Line] = []
        for (check, rule, run) in checks {
            let current = ConformanceRun()
            do {
                try await run(current)
            } catch {
                current.expect(false, "threw \(error)")
            }
            lines.append(ConformanceReport.Line(check, rule, current.outcome))
        }
        return lines
    }
}
