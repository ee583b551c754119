internal import AssayCore
internal import AssayKit
internal import Synchronization

/// The report of a suite whose checks are made in other processes of this program: what a plugin does to its process ends one
/// check, and no report.
struct SeparateReport: Sendable {
    let suite: any ConformanceSuite
    /// Its place in the list of the program.
    let index: Int
    let effort: ConformanceEffort

    /// How long a process may say nothing: longer than the suite itself waits for a plugin.
    private static let silence = Duration.seconds(90)
    /// How long all processes together may take.
    private static let total = Duration.seconds(300)

    /// Makes the report.
    func make() async -> ConformanceReport {
        guard let separable = suite as? any SeparableSuite else { return await whole() }
        let start = ContinuousClock.now
        var waiting = separable.checks
        var version = ""
        var lines: [ConformanceReport.Line] = []
        while !waiting.isEmpty {
            guard ContinuousClock.now - start < Self.total else {
                let words = "was not looked at: the checks before took \(Self.total.components.seconds) seconds"
                lines += waiting.map { ConformanceReport.Line($0.name, $0.rule, .failed([words])) }
                break
            }
            let (reports, end) = await process(waiting.map(\.name), silence: Self.silence)
            version = reports.map(\.version).last { !$0.isEmpty } ?? version
            let made = reports.flatMap(\.lines)
            lines += made
            waiting.removeAll { check in made.contains { $0.check.isExactly(check.name) } }
            if waiting.isEmpty { break }
            // What ended the process is the first check that it has no line of.
            let culprit = waiting.removeFirst()
            lines.append(ConformanceReport.Line(culprit.name, culprit.rule, .failed([end])))
        }
        let order = separable.checks.map(\.name)
        func place(_ line: ConformanceReport.Line) -> Int { order.firstIndex(where: line.check.isExactly) ?? 0 }
        return ConformanceReport(
            suite.kind, suite.name, version: version, effort: effort, lines: lines.sorted { place($0) < place($1) })
    }

    /// The report of a suite that can only be made as a whole.
    private func whole() async -> ConformanceReport {
        let (reports, end) = await process(nil, silence: nil)
        if let report = reports.first { return report }
        let line = ConformanceReport.Line(
            "process", "the plugin does not end the process that it is in", .failed([end]))
        return ConformanceReport(suite.kind, suite.name, version: "", effort: effort, lines: [line])
    }

    /// Makes checks in another process.
    ///
    /// Returns what it reported until it ended, and how it ended.
    private func process(_ checks: [String]?, silence: Duration?) async -> ([ConformanceReport], String) {
        let arguments =
            ["conformance", "--suite", "\(index)"] + (effort == .quick ? ["--quick"] : [])
            + (checks.map { ["--checks", $0.joined(separator: ",")] } ?? [])
        do {
            let (lines, end) = try await WorkerThreads(count: 1, waiting: 1).run {
                try CheckProcess.run(arguments, silence: silence)
            }
            let limits = JSON.Limits(bytes: 16 << 20)
            return (
                lines.compactMap { line in (try? JSON.parse(line, limits: limits)).flatMap { ConformanceReport($0) } },
                end
            )
        } catch {
            return ([], "\(error)")
        }
    }
}
