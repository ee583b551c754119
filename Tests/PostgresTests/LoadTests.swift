import AssayCore
import AssayKit
import Foundation
import Synchronization
import Testing

@testable import AssayPostgres

private let isAsked = ProcessInfo.processInfo.environment["ASSAY_POSTGRES_LOAD"] != nil

/// Measurements, which print figures and check nothing: they run when they are asked for.
///
/// `SteadyRate` measures a large table.
///
///     ASSAY_POSTGRES_LOAD=1 swift test --filter PostgresTests.LoadTests
@Suite(isInstalled, .enabled(if: isAsked, "set ASSAY_POSTGRES_LOAD to measure"), .serialized)
struct LoadTests {
    /// Latencies in milliseconds, of many tasks.
    private final class Latencies: Sendable {
        private let all = Mutex<[Double]>([])
        private let numbers = Atomic(0)

        /// A number that nobody else has.
        func next() -> Int { numbers.add(1, ordering: .relaxed).newValue }

        func measure(_ operation: () async throws -> Void) async throws {
            let begin = ContinuousClock.now
            try await operation()
            let time = (ContinuousClock.now - begin) / Duration.milliseconds(1)
            all.withLock { $0.append(time) }
        }

        /// The number, the median and the 99th percentile since the last time.
        func take() -> (count: Int, median: Double, late: Double) {
            let sorted = all.withLock { all in
                defer { all = [] }
                return all.sorted()
            }
            guard !sorted.isEmpty else { return (0, 0, 0) }
            return (sorted.count, sorted[sorted.count / 2], sorted[min(sorted.count * 99 / 100, sorted.count - 1)])
        }
    }

    @Test(arguments: [1, 64], [1, 4, 8])
    func operationsOfConcurrentTasks(tasks: Int, pool: Int) async throws {
        let store = try await openStore(try PostgresServer.shared.get().newSchema(), "pool=\(pool)")
        let kinds: [(String, @Sendable (Int) async throws -> Void)] = [
            ("insert", { number in _ = try await store.commit([insertion("\(number)", expires: 4_000_000_000)]) }),
            (
                "insert and advance",
                { number in
                    _ = try await store.commit([
                        insertion("b\(number)"), raising("c\(number % 5000)", to: UInt64(number)),
                    ])
                }
            ), ("get", { number in _ = try await store.get(StateKey("s", "\(number)")) }),
        ]
        for (name, run) in kinds {
            let latencies = Latencies()
            let begin = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<tasks {
                    group.addTask {
                        while ContinuousClock.now - begin < .seconds(3) {
                            let number = latencies.next()
                            try await latencies.measure { try await run(number) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let (count, median, late) = latencies.take()
            print("pool \(pool), \(tasks) tasks, \(name): \(count / 3)/s, median \(median) ms, 99 % \(late) ms")
        }
        await store.close()
    }
}
