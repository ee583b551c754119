internal import ArgumentParser

/// Measures Assay's operations against what they cannot do without.
@main
struct BenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Benchmarks",
        abstract: "Measure how near Assay's operations come to the bare OpenSSL calls in them.",
        discussion: """
            Prints one JSON object a line. `per_second` is how often the operation can be done in a second, on one \
            thread. `limit_per_second` is the same for the bare call of OpenSSL that the operation cannot do without: \
            EVP_PKEY_verify or EVP_PKEY_sign over a digest made beforehand, with a context made beforehand. `ratio` is \
            the first divided by the second, and `needed` what it should be at least.

            Both are repeated in short batches by turns, in one run, and each figure is the median of its batches, so \
            that whatever else the machine does meets both. Times are of the clock on the wall. The process runs on one \
            thread but for `http.*`, where the load generator and the server share all cores.

            `token.verify.jwt-kit` is vapor/jwt-kit on the same token; `factor` is how many times as fast Assay is. \
            `allocations.*` count all calls of malloc and its like in the process, OpenSSL's included, which \
            `openssl_allocations` repeats for the bare call. `http.*` have Hummingbird's empty reply to the same requests \
            as their limit; assertions are made and signed before the time that is measured.

            Measure in a release build, with nothing else running.
            """)

    @Option(help: "Measure only what has this text in its name.")
    var filter: String?

    @Option(help: "How many seconds each measurement takes, of which there are seven.")
    var seconds = 3.0

    func validate() throws {
        guard seconds > 0, seconds <= 600 else { throw ValidationError("--seconds is more than 0 and at most 600") }
        guard !selected.isEmpty else {
            let names = Benchmark.all.flatMap(\.names).joined(separator: ", ")
            throw ValidationError("nothing is called so; there are \(names)")
        }
    }

    func run() async throws {
        for benchmark in selected {
            for line in try await benchmark.run(.seconds(seconds)) where isWanted(line.name) { print(line) }
        }
    }

    private var selected: [Benchmark] {
        Benchmark.all.filter { $0.names.contains(where: isWanted) }
    }

    private func isWanted(_ name: String) -> Bool {
        filter.map(name.contains) ?? true
    }
}
