/// Measures operations side by side.
enum Interleaved {
    /// Shorter than what the system's scheduler grants at once, long enough for the clock.
    private static let batchTime = Duration.milliseconds(1)
    private static let minimumRounds = 5

    /// How often each operation can be done in a second, on one thread: the median of many short batches.
    ///
    /// In each round every operation has a batch, and another one begins; the rounds end when the time is over.
    static func rates(_ operations: [Operation], for time: Duration) async throws -> [Double] {
        let executor = OneThread()
        defer { executor.stop() }
        return try await withTaskExecutorPreference(executor) {
            var counts: [Int] = []
            for operation in operations { counts.append(try await batchCount(operation)) }
            var samples = [[Double]](repeating: [], count: operations.count)
            let clock = ContinuousClock()
            let end = clock.now + time
            var round = 0
            while round < minimumRounds || clock.now < end {
                for turn in operations.indices {
                    let index = (turn + round) % operations.count
                    let start = clock.now
                    try await operations[index].repeated(counts[index])
                    samples[index].append((clock.now - start) / .seconds(1) / Double(counts[index]))
                }
                round += 1
            }
            return samples.map { 1 / median($0) }
        }
    }

    /// How many repetitions make a batch; finding that out warms the operation up.
    private static func batchCount(_ operation: Operation) async throws -> Int {
        var count = 1
        while true {
            let time = try await ContinuousClock().measure { try await operation.repeated(count) }
            if time >= batchTime { return max(1, Int(Double(count) * (batchTime / time))) }
            count *= 2
        }
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }
}
