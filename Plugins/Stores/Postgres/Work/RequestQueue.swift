internal import AssayCore

/// The requests that no connection has taken, and how many are not answered.
///
/// While a connection waits for the server, requests gather here; the next connection that is free takes many of them
/// together. A lone request is taken at once.
final class RequestQueue: Sendable {
    enum Limits {
        /// Requests, and bytes in them, that were accepted and not answered.
        static let requests = 16_384
        static let bytes = 64 << 20
        /// Requests, and bytes in them, that one connection takes at once.
        static let batch = 64
        static let batchBytes = 4 << 20
    }

    private struct State {
        var waiting: [Request] = []
        var unanswered = 0
        var unansweredBytes = 0
        var isClosed = false
        var connections = 0
        /// Since when there is no connection, and why; nil while there is one.
        var outage: (since: ContinuousClock.Instant, error: PostgresStoreError)?
        var closers: [CheckedContinuation<Void, Never>] = []
        /// Threads that have or make a connection.
        var threads = 0

        var isBusy: Bool { unanswered > 0 || threads > 0 }

        mutating func takeClosers() -> [CheckedContinuation<Void, Never>] {
            guard isClosed, !isBusy else { return [] }
            defer { closers = [] }
            return closers
        }
    }

    private let state = Monitor(State())
    private let place: String
    private let timeout: Duration

    init(place: String, timeout: Duration) {
        self.place = place
        self.timeout = timeout
    }

    /// Has a statement run, and waits for its answer.
    func run(_ kind: Request.Kind, _ step: Step, order: LockOrder? = nil) async throws(PostgresStoreError) -> Table {
        let result = await withCheckedContinuation { continuation in
            let request = Request(kind, step, order: order, timeout: timeout, reply: Reply(continuation))
            if let refusal = add(request) { _ = request.reply.give(.failure(refusal)) }
        }
        return try result.get()
    }

    private func add(_ request: Request) -> PostgresStoreError? {
        let refusal: PostgresStoreError? = state.withLock { state in
            guard !state.isClosed else { return closedError }
            // When the database is away for longer than a caller would wait, the caller is told at once.
            if let outage = state.outage, .now - outage.since > timeout { return outage.error }
            let bytes = state.unansweredBytes + request.bytes
            guard state.unanswered < Limits.requests, bytes <= Limits.bytes else {
                return PostgresStoreError(.overloaded, "\(place): too many operations wait for the database")
            }
            state.waiting.append(request)
            state.unanswered += 1
            state.unansweredBytes = bytes
            return nil
        }
        guard let refusal else {
            state.signal()
            return nil
        }
        return refusal
    }

    private var closedError: PostgresStoreError { PostgresStoreError(.closed, "\(place): the store is closed") }

    /// Blocks the thread until there are requests, which it takes; nil when there are none for a while.
    func take(atMost duration: Duration) -> [Request]? {
        state.wait(atMost: duration) { state in
            if state.isClosed { return [] }
            guard !state.waiting.isEmpty else { return nil }
            var (count, bytes) = (0, 0)
            for request in state.waiting.prefix(Limits.batch) {
                bytes += request.bytes
                guard count == 0 || bytes <= Limits.batchBytes else { break }
                count += 1
            }
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(count)
            return batch
        }
    }

    /// Puts requests back that had no effect, before all others.
    func giveBack(_ requests: [Request]) {
        guard !requests.isEmpty else { return }
        let isClosed = state.withLock { state in
            if !state.isClosed { state.waiting.insert(contentsOf: requests, at: 0) }
            return state.isClosed
        }
        if isClosed {
            for request in requests { answer(request, .failure(closedError)) }
        } else {
            state.signal()
        }
    }

    func answer(_ request: Request, _ result: Result<Table, PostgresStoreError>) {
        guard request.reply.give(result) else { return }
        let closers: [CheckedContinuation<Void, Never>] = state.withLock { state in
            state.unanswered -= 1
            state.unansweredBytes -= request.bytes
            return state.takeClosers()
        }
        for closer in closers { closer.resume() }
    }

    /// Answers what has waited for too long.
    func expire() {
        let now = ContinuousClock.now
        let (late, outage) = state.withLock { state in
            let late = state.waiting.filter { $0.deadline <= now }
            if !late.isEmpty { state.waiting.removeAll { $0.deadline <= now } }
            return (late, state.outage)
        }
        let error = outage?.error ?? PostgresStoreError(.timedOut, "\(place): no connection was free in time")
        for request in late { answer(request, .failure(error)) }
    }

    /// Notes that a thread has a connection.
    func noteConnection() {
        state.withLock { state in
            state.connections += 1
            state.outage = nil
        }
    }

    /// Notes why a thread has no connection, and whether it had one.
    func noteFailure(_ error: PostgresStoreError, isLoss: Bool) {
        state.withLock { state in
            if isLoss { state.connections -= 1 }
            if state.connections == 0 { state.outage = (state.outage?.since ?? .now, error) }
        }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Lets everything that comes later throw, and everything that waits.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        state.signalAll()
        for request in waiting { answer(request, .failure(closedError)) }
    }

    /// A thread begins to make a connection.
    func threadBegins() {
        state.withLock { $0.threads += 1 }
    }

    /// A thread has ended, and its connection before it.
    func threadEnds() {
        let closers = state.withLock { state in
            state.threads -= 1
            return state.takeClosers()
        }
        for closer in closers { closer.resume() }
    }

    /// Waits for the answers to what connections have taken, and for the threads: one that still makes a connection while the
    /// process ends would use libraries that are being taken down.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isBusy { state.closers.append(continuation) }
                return !state.isBusy
            }
            if isDone { continuation.resume() }
        }
    }
}
