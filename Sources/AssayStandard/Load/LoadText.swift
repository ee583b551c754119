#if Simulator
internal import AssayCore

/// What a person reads of a result.
enum LoadText {
    static let percentiles: [(label: String, percentile: Double)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100),
    ]

    /// The whole report.
    static func report(_ result: LoadResult) -> String {
        var lines = [
            "\(result.url): \(result.mix), \(result.pace), measured for \(fixed(result.seconds, 1)) s"
                + (result.generators > 1 ? " by \(result.generators) generators" : "")
        ]
        lines.append(
            row(
                "",
                ["due", "accepted", "refused", "lost", "late", "accepted/s"] + percentiles.map { "\($0.label) ms" }))
        let methods = LoadMethod.allCases.filter { result.tally[$0].due > 0 }
        for method in methods {
            lines.append(row(method.rawValue, cells(result.tally[method], result.acceptedRates[method.index])))
        }
        let total = result.tally.total
        if methods.count > 1 { lines.append(row("all", cells(total, result.acceptedRates.reduce(0, +)))) }
        if total.refused > 0 {
            let values = percentiles.map { "\($0.label) \(milliseconds(total.refusal, $0.percentile)) ms" }
            lines.append(
                "refused: \(fixed(result.refusedRates.reduce(0, +), 1)) a second; "
                    + "latency \(values.joined(separator: ", "))")
        }
        for (problem, times) in sorted(result.tally.problems) {
            lines.append("\(times) × \(problem.method.rawValue): \(words(of: problem))")
        }
        if total.replaysRefused + total.replaysAccepted > 0 {
            lines.append("replays: \(total.replaysRefused) refused, \(total.replaysAccepted) ACCEPTED")
        }
        lines.append("generator: \(fixed(result.generatorPercent, 0)) % of a core")
        if let percent = result.serverPercent {
            var line = "server: \(fixed(percent, 0)) % of a core"
            if result.answeredRate > 0 {
                line += ", \(fixed(percent * 10_000 / result.answeredRate, 0)) µs for each request"
            }
            if let memory = result.serverMemory { line += ", \(fixed(Double(memory) / 1_048_576, 1)) MB of memory" }
            lines.append(line)
        }
        lines += result.notes.map { "note: \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Percentile distributions by method, in the format that tools for HdrHistogram draw; values are milliseconds.
    static func distributions(_ tally: LoadTally) -> String {
        var text = ""
        for method in LoadMethod.allCases where tally[method].latency.count > 0 {
            text += "#[\(method.rawValue)]\n"
            text += tally[method].latency.distribution
        }
        return text
    }

    /// The line that is shown while it runs.
    static func live(_ second: Int, _ before: LoadTally, _ now: LoadTally) -> String {
        let (old, new) = (before.total, now.total)
        let accepted = new.acceptedInTime - old.acceptedInTime
        let refused = new.refusedInTime - old.refusedInTime
        return "\(second) s  \(accepted) accepted, \(refused) refused, \(new.lost - old.lost) lost  "
            + "p99 \(milliseconds(new.latency, 99)) ms"
    }

    /// Problems, the most frequent first.
    static func sorted(_ problems: [LoadTally.Problem: Int]) -> [(LoadTally.Problem, Int)] {
        problems.map { ($0.key, $0.value) }.sorted {
            ($1.1, $0.0.status, $0.0.method.index) < ($0.1, $1.0.status, $1.0.method.index)
        }
    }

    /// The status of a problem, and what the server said.
    static func words(of problem: LoadTally.Problem) -> String {
        guard problem.status > 0 else { return printable(problem.words) }
        guard let error = (try? JSON.parse(problem.words))?["error"] else {
            return problem.words.isEmpty ? "\(problem.status)" : "\(problem.status) \(printable(problem.words))"
        }
        let parts = [error["status"]?.string, error["message"]?.string].compactMap(\.self)
        return "\(problem.status) \(printable(Array(parts.joined(separator: ": ").utf8)))"
    }

    /// A number with so many digits after the point.
    static func fixed(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite, value >= 0, value < 1e12 else { return "-" }
        let scale = digits == 0 ? 1 : digits == 1 ? 10 : 100
        let scaled = Int((value * Double(scale)).rounded())
        guard digits > 0 else { return "\(scaled)" }
        let rest = "\(scaled % scale)"
        return "\(scaled / scale).\(String(repeating: "0", count: max(0, digits - rest.utf8.count)))\(rest)"
    }

    private static func cells(_ counts: LoadCounts, _ rate: Double) -> [String] {
        [counts.due, counts.accepted, counts.refused, counts.lost, counts.late].map(String.init) + [fixed(rate, 1)]
            + percentiles.map { milliseconds(counts.latency, $0.percentile) }
    }

    private static func milliseconds(_ latencies: LoadLatencies, _ percentile: Double) -> String {
        latencies.milliseconds(percentile).map { fixed($0, 2) } ?? "-"
    }

    private static func row(_ name: String, _ cells: [String]) -> String {
        var line = name + String(repeating: " ", count: max(1, 10 - name.utf8.count))
        for cell in cells { line += String(repeating: " ", count: max(1, 11 - cell.utf8.count)) + cell }
        return line
    }

    private static func printable(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix(200).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
#endif
