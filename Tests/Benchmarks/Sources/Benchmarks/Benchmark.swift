/// Something to measure, which may print more than one line because it is measured side by side.
struct Benchmark: Sendable {
    /// The names of the lines.
    let names: [String]
    /// Measures for about that long.
    let run: @Sendable (Duration) async throws -> [ReportLine]

    static let all =
        TokenBenchmarks.all + AppAttestBenchmarks.all + AndroidKeyBenchmarks.all + PlayBenchmarks.all
        + PolicyBenchmarks.all
        + AllocationBenchmarks.all + HTTPBenchmarks.all + FleetEngineBenchmarks.all + ProcessBenchmarks.all
        + ClientBenchmarks.all
}

/// Why a benchmark has no figure: what it measures did not work.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Throws unless a condition holds.
    static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws(BenchmarkFailure) {
        guard condition else { throw BenchmarkFailure(description()) }
    }
}
