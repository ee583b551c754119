internal import CAllocations

/// How often memory is allocated.
enum AllocationBenchmarks {
    static let all = [
        Benchmark(names: ["allocations.token.verify"], run: verify),
        Benchmark(names: ["allocations.token.issue"], run: issue),
    ]

    private static let repetitions = 500

    private static func verify(for time: Duration) async throws -> [ReportLine] {
        let service = try await DebugService()
        let keys = try service.keys()
        return [
            try await line(
                "allocations.token.verify", TokenBenchmarks.verification(of: service.token, keys),
                TokenBenchmarks.bareVerification(of: service.token, keys))
        ]
    }

    private static func issue(for time: Duration) async throws -> [ReportLine] {
        [
            try await line(
                "allocations.token.issue", await TokenBenchmarks.exchange(), BareCall.rsaSigning().operation)
        ]
    }

    private static func line(_ name: String, _ operation: Operation, _ bare: Operation) async throws -> ReportLine {
        ReportLine(
            name, rate: nil,
            more: [
                ("allocations", try await count(operation)), ("openssl_allocations", try await count(bare)),
            ])
    }

    /// Allocations of one repetition, on average, after some that are not counted.
    static func count(_ operation: Operation) async throws -> Double {
        try await operation.repeated(20)
        allocations_start()
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await operation.repeated(repetitions))
        } catch {
            outcome = .failure(error)
        }
        let count = allocations_stop()
        try outcome.get()
        return count < 0 ? .nan : Double(count) / Double(repetitions)
    }
}
