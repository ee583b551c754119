internal import AssayCore
internal import Synchronization

/// Gathers concurrent writes into one transaction, so that they share the cost of making it durable.
///
/// While a transaction runs, the writes that arrive wait; the next transaction takes them together, in the order of
/// their arrival. A lone write does not wait for company. A caller gets its result after the commit and never before;
/// if the transaction fails, all of its writes fail with the same error and none has an effect. The sizes of writes are
/// checked before they get here, so that only the disk, the file or its lock can fail: the same for all.
///
/// A cancelled caller still waits for its write, which may already be part of a transaction with others.
final class GroupCommit: Sendable {
    private struct Waiting {
        let mutation: Mutation
        let reply: CheckedContinuation<Result<Int?, SQLiteStoreError>, Never>
    }

    private struct State {
        var waiting: [Waiting] = []
        /// How many writes were accepted and not answered, including those of the running transaction, and their bytes.
        var unansweredCount = 0
        var unansweredBytes = 0
        /// Whether a transaction is running or about to run, which starts the next one at its end.
        var isRunning = false
    }

    private let writer: ConnectionQueue
    private let clock: HostClock
    /// When entries are removed: a clock that is ahead for a moment removes nothing.
    private let settled: SettledTime
    private let path: String
    private let watch: FileWatch
    private let state = Mutex(State())

    init(
        writer: ConnectionQueue, clock: HostClock, settled: SettledTime, path: String, watch: FileWatch
    ) {
        self.settled = settled
        self.writer = writer
        self.clock = clock
        self.path = path
        self.watch = watch
    }

    /// Carries out a write.
    ///
    /// Returns what ``Mutation/apply(to:now:)`` returned, once that is durable.
    func commit(_ mutation: Mutation) async throws(SQLiteStoreError) -> Int? {
        let result = await withCheckedContinuation { reply in
            enqueue(Waiting(mutation: mutation, reply: reply))
        }
        return try result.get()
    }

    private func enqueue(_ waiting: Waiting) {
        let (isTaken, starts) = state.withLock { state in
            let bytes = state.unansweredBytes + waiting.mutation.bytes
            guard state.unansweredCount < SQLiteStore.Limits.waitingWrites, bytes <= SQLiteStore.Limits.waitingBytes
            else { return (false, false) }
            state.waiting.append(waiting)
            state.unansweredCount += 1
            state.unansweredBytes = bytes
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if !isTaken {
            waiting.reply.resume(
                returning: .failure(SQLiteStoreError(.overloaded, "\(path): too many writes wait for the disk")))
        } else if starts {
            schedule()
        }
    }

    private func schedule() {
        writer.submit { connection in self.runBatch(connection) }
    }

    /// Runs on the queue of the writing connection: one batch, then the next one goes to the end of that queue.
    private func runBatch(_ connection: Result<Connection, any Error>) {
        let batch = state.withLock { state in
            let count = min(state.waiting.count, SQLiteStore.Limits.batchedWrites)
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(count)
            return batch
        }
        let result = perform(batch.map(\.mutation), connection)
        for (index, waiting) in batch.enumerated() {
            waiting.reply.resume(returning: result.map { $0[index] })
        }
        let continues = state.withLock { state in
            state.unansweredCount -= batch.count
            state.unansweredBytes -= batch.reduce(0) { $0 + $1.mutation.bytes }
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
        }
        if continues { schedule() }
    }

    private func perform(
        _ mutations: [Mutation], _ connection: Result<Connection, any Error>
    ) -> Result<[Int?], SQLiteStoreError> {
        do {
            let db = try connection.get()
            let counts = try db.transaction(.immediate) {
                let now = clock.now
                // First, so that a file that is full of expired entries recovers; more than the writes can add.
                let purged = max(SQLiteStore.Limits.leastPurged, 2 * mutations.count)
                if !mutations.contains(where: \.isPurge) {
                    _ = try Mutation.purge(limit: purged, settled.now).apply(to: db, now: now)
                }
                let counts = try mutations.map { try $0.apply(to: db, now: now) }
                try watch.check()
                return counts
            }
            return .success(counts)
        } catch {
            return .failure(SQLiteStoreError(error, path: path))
        }
    }
}
