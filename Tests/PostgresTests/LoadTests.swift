import AssayCore
import AssayState
import Foundation
import Synchronization
import Testing

@testable import AssayPostgres

private let measuredRows = ProcessInfo.processInfo.environment["ASSAY_POSTGRES_ROWS"].flatMap { Int($0) }

/// Measurements, which print figures and check little: they run when they are asked for.
///
///     ASSAY_POSTGRES_ROWS=10000000 swift test --filter LoadTests
@Suite(isInstalled, .enabled(if: measuredRows != nil, "set ASSAY_POSTGRES_ROWS to measure"), .serialized)
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

    /// Rows that expire within five minutes are removed while others are inserted: the size and the latency stay.
    @Test func aSteadyRateOfInsertionsAndRemovals() async throws {
        let server = try PostgresServer.shared.get()
        let (schema, rows) = (server.newSchema(), measuredRows ?? 0)
        let store = try await openStore(schema)
        let now = HostClock.system.now.milliseconds
        try server.sql(
            """
            INSERT INTO \(schema).entry SELECT 'challenges', sha256(int4send(i)), '', \(now) + i::bigint * 300000 / \(rows)
            FROM generate_series(1, \(rows)) i
            """, "ANALYZE \(schema).entry")
        let latencies = Latencies()
        let cleaning = Task { try await store.run() }
        let pace = Duration.milliseconds(300_000 * 16 / max(rows, 1) + 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    while !Task.isCancelled {
                        let key = StateKey("challenges", "\(task)-\(latencies.next())")
                        let end = HostClock.system.now + .seconds(300)
                        try await latencies.measure { _ = try await store.insert(key, value: [], expires: end) }
                        try? await Task.sleep(for: pace)
                    }
                }
            }
            group.addTask {
                for second in 1...12 {
                    try await Task.sleep(for: .seconds(10))
                    let (count, median, late) = latencies.take()
                    let size = try server.integer("SELECT pg_total_relation_size('\(schema).entry')") ?? 0
                    let waiting = try server.integer(
                        "SELECT count(*) FROM \(schema).entry WHERE expires <= \(HostClock.system.now.milliseconds)")
                    print(
                        "\(second * 10) s: \(count / 10) insertions/s, median \(median) ms, 99 % \(late) ms, "
                            + "\(size >> 20) MiB, \(waiting ?? 0) expired rows wait")
                }
                cleaning.cancel()
            }
            _ = try await group.next()
            group.cancelAll()
        }
        await store.close()
    }
}
