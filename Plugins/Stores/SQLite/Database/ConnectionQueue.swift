internal import Dispatch
internal import Synchronization

/// A connection, and the queue of its users, one after another in the order of their arrival.
///
/// SQLite blocks its thread while it waits for the disk or for a lock, so it must not run on the threads of Swift's
/// tasks.
final class ConnectionQueue: Sendable {
    private enum State {
        case unopened
        case open(Connection)
        case closed
    }

    private let open: @Sendable () throws -> Connection
    private let queue: DispatchQueue
    private let state = Mutex(State.unopened)

    /// - Parameter open: called for the first use, and again for the next one when it throws.
    init(label: String, open: @escaping @Sendable () throws -> Connection) {
        self.open = open
        self.queue = DispatchQueue(label: label)
    }

    /// Calls a body on the queue, with the connection or with the reason why it is missing.
    func submit(_ body: @escaping @Sendable (Result<Connection, any Error>) -> Void) {
        queue.async {
            self.state.withLock { state in
                body(Result { try Self.connection(&state, self.open) })
            }
        }
    }

    /// Opens the connection now, and calls a body with it on the thread of the caller.
    func perform<T: Sendable>(_ body: (Connection) throws -> T) throws -> T {
        try state.withLock { state in try body(Self.connection(&state, open)) }
    }

    /// Closes the connection after all that was submitted before.
    ///
    /// What comes later finds the store closed.
    ///
    /// - Parameter last: called with the connection, if it was opened.
    func close(_ last: @escaping @Sendable (Connection) -> Void = { _ in }) async {
        await withCheckedContinuation { reply in
            queue.async {
                self.state.withLock { state in
                    if case .open(let connection) = state { last(connection) }
                    state = .closed
                }
                reply.resume()
            }
        }
    }

    private static func connection(_ state: inout State, _ open: () throws -> Connection) throws -> Connection {
        switch state {
        case .open(let connection):
            return connection
        case .unopened:
            let connection = try open()
            state = .open(connection)
            return connection
        case .closed:
            throw SQLiteStoreError(.closed, "the store is closed")
        }
    }
}

/// Several connections for reading, each of which is opened when the others have work.
final class ReadingConnections: Sendable {
    private let queues: [ConnectionQueue]
    /// How many bodies each queue has not finished.
    private let unfinished: Mutex<[Int]>

    init(count: Int, open: @escaping @Sendable () throws -> Connection) {
        self.queues = (0..<count).map { ConnectionQueue(label: "assay.state.read.\($0)", open: open) }
        self.unfinished = Mutex(Array(repeating: 0, count: count))
    }

    /// Calls a body with a connection, on the queue that has the least to do.
    func read<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        let index = unfinished.withLock { counts in
            let index = counts.indices.min { counts[$0] < counts[$1] } ?? 0
            counts[index] += 1
            return index
        }
        defer { unfinished.withLock { $0[index] -= 1 } }
        return try await withCheckedThrowingContinuation { reply in
            queues[index].submit { connection in
                reply.resume(with: Result { try body(connection.get()) })
            }
        }
    }

    func close() async {
        for queue in queues { await queue.close() }
    }
}
