internal import AssayCore
internal import NIOCore
internal import Synchronization

/// The operations for one server that share a connection, which is replaced when it is lost.
///
/// While an exchange is under way, operations that arrive wait; the next exchange takes them together. A lone operation
/// does not wait for company. While the server cannot be reached, operations fail at once.
final class Link: Sendable {
    typealias Connect = @Sendable () async throws(RedisStoreError) -> Session
    /// Whether a connection in use is still to be used, see ``Connector/holds(_:isCluster:)``.
    typealias Review = @Sendable (Session) async throws(RedisStoreError) -> Bool

    fileprivate enum Phase {
        /// Also before the first connection: operations wait for it.
        case connecting
        case up
        case down(RedisStoreError)
        case closed
    }

    fileprivate struct State {
        var phase = Phase.connecting
        var waiting: [Ticket] = []
        var sent: [Ticket] = []
        var bytes = 0
        var count = 0
        var driver: Task<Void, Never>?
        var connection: Connection?
        /// Whether the connection is reviewed before the next exchange.
        var needsReview = false
    }

    private let state = Mutex(State())
    private let name: String
    private let timeLimit: TimeAmount
    /// Whether operations write, and are confirmed.
    private let writes: Bool
    private let connect: Connect
    private let checks: Review
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(
        _ name: String, writes: Bool, timeLimit: TimeAmount, connect: @escaping Connect,
        review: @escaping Review = { _ in true }
    ) {
        self.name = name
        self.writes = writes
        self.timeLimit = timeLimit
        self.connect = connect
        checks = review
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Begins to connect; ends with ``close()``.
    func start() {
        state.withLock { state in
            guard state.driver == nil, !state.phase.isClosed else { return }
            state.driver = Task { await self.run() }
        }
    }

    /// Sends a command, and waits for its answer.
    func call(
        _ command: Command, deadline: NIODeadline, isAsking: Bool = false
    ) async throws(RedisStoreError) -> RedisReply {
        let answer = await withCheckedContinuation { waiter in
            enqueue(Ticket(command, deadline: deadline, isAsking: isAsking, waiter))
        }
        return try answer.get()
    }

    private func enqueue(_ ticket: Ticket) {
        let refusal = state.withLock { state -> RedisStoreError? in
            switch state.phase {
            case .closed: return RedisStoreError(.closed, "\(name): the store is closed")
            case .down(let error): return error
            case .connecting, .up: break
            }
            guard state.count < RedisStore.Limits.waiting, state.bytes + ticket.bytes <= RedisStore.Limits.waitingBytes
            else { return RedisStoreError(.overloaded, "\(name): too many operations wait for the server") }
            state.waiting.append(ticket)
            state.count += 1
            state.bytes += ticket.bytes
            return nil
        }
        if let refusal { return ticket.settle(.failure(refusal)) }
        signal.yield()
    }

    /// Fails what has waited for too long.
    func expire(at now: NIODeadline = .now()) {
        let (late, lateSent) = state.withLock { state in
            let late = state.waiting.filter { $0.deadline <= now }
            if !late.isEmpty {
                state.waiting.removeAll { $0.deadline <= now }
                state.count -= late.count
                state.bytes -= late.reduce(0) { $0 + $1.bytes }
            }
            return (late, state.sent.filter { $0.deadline <= now })
        }
        for ticket in late {
            ticket.settle(.failure(RedisStoreError(.timedOut, "\(name): no connection in time; nothing was sent")))
        }
        for ticket in lateSent {
            ticket.settle(.failure(RedisStoreError(.timedOut, "\(name): no answer in time; the change may be made")))
        }
    }

    /// Ends the connection, so that the server is looked for and verified again.
    func drop() {
        state.withLock { $0.connection }?.close()
    }

    /// Has the connection reviewed before the next exchange, also one that is being made: what it was verified by may be older.
    func review() {
        state.withLock { $0.needsReview = true }
        signal.yield()
    }

    /// Begins to end all work: what waits fails, what was sent ends within its time limit.
    func end() {
        let (left, driver) = state.withLock { state in
            state.phase = .closed
            defer { state.waiting = [] }
            return (state.waiting, state.driver)
        }
        for ticket in left { ticket.settle(.failure(RedisStoreError(.closed, "\(name): the store was closed"))) }
        signal.finish()
        driver?.cancel()
    }

    /// Ends all work, and waits for that.
    func close() async {
        end()
        await state.withLock { $0.driver }?.value
    }

    private func run() async {
        var signals = signals.makeAsyncIterator()
        var failures = 0
        while state.withLock({ $0.begin() }) {
            do throws(RedisStoreError) {
                let session = try await connect()
                let start = NIODeadline.now()
                let (hasAnswered, error) = await serve(session, &signals)
                // A server that takes connections and ends them at once is not asked in a tight loop.
                if hasAnswered || NIODeadline.now() - start > .seconds(1) { failures = 0 }
                if let error { throw error }
                failures += 1
                if failures > 1 { await pause(failures) }
            } catch {
                failures += 1
                fall(error)
                await pause(failures)
            }
        }
    }

    private func pause(_ failures: Int) async {
        let delay = RedisStore.Limits.reconnecting.delay(after: failures, randomness: .system)
        try? await Task.sleep(for: delay)
    }

    private func fall(_ error: RedisStoreError) {
        let left = state.withLock { state in
            guard state.enter(.down(error)) else { return [Ticket]() }
            defer { (state.waiting, state.count, state.bytes) = ([], 0, 0) }
            return state.waiting
        }
        for ticket in left { ticket.settle(.failure(error)) }
    }

    /// Sends what waits until the connection ends.
    ///
    /// Returns whether the server has answered anything, and an error after which operations shall fail until another
    /// connection was verified.
    private func serve(
        _ session: Session, _ signals: inout AsyncStream<Void>.Iterator
    ) async -> (hasAnswered: Bool, error: RedisStoreError?) {
        let connection = session.connection
        var hasAnswered = false
        defer { connection.close() }
        connection.whenClosed { [signal] in signal.yield() }
        guard state.withLock({ $0.enter(.up, connection) }) else { return (false, nil) }
        while connection.isOpen, !Task.isCancelled {
            if state.withLock({ $0.takeReview() }) {
                do throws(RedisStoreError) {
                    guard try await checks(session) else { return (hasAnswered, nil) }
                } catch {
                    return (hasAnswered, error.endsConnection ? error : nil)
                }
                hasAnswered = true
            }
            let batch = take()
            guard !batch.isEmpty else {
                guard await signals.next() != nil else { break }
                continue
            }
            let (isUsable, error) = await carryOut(batch, session)
            guard isUsable, error == nil else { return (hasAnswered, error) }
            hasAnswered = true
        }
        return (hasAnswered, nil)
    }

    private func take() -> [Ticket] {
        state.withLock { state in
            var (count, bytes) = (0, 0)
            for ticket in state.waiting {
                guard
                    count == 0
                        || (count < RedisStore.Limits.batched && bytes + ticket.bytes <= RedisStore.Limits.batchedBytes)
                else { break }
                count += 1
                bytes += ticket.bytes
            }
            let batch = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(count)
            state.sent = batch
            return batch
        }
    }

    /// One exchange.
    ///
    /// Returns whether the connection can still be used, and an error that others shall see as well.
    private func carryOut(_ batch: [Ticket], _ session: Session) async -> (Bool, RedisStoreError?) {
        let now = NIODeadline.now()
        let latest = batch.map(\.deadline).max() ?? now
        let limit = min(max(latest - now, .milliseconds(1)), timeLimit)
        var buffer = ByteBuffer()
        var count = 0
        for ticket in batch {
            if ticket.isAsking {
                Command("ASKING").write(to: &buffer, digests: nil)
                count += 1
            }
            ticket.command.write(to: &buffer, digests: ticket.usesText ? nil : session.digests)
            count += 1
        }
        let confirmation =
            writes ? session.confirmation.command(milliseconds: max(limit.nanoseconds / 1_000_000 - 50, 1)) : nil
        if let confirmation {
            confirmation.write(to: &buffer, digests: nil)
            count += 1
        }
        do throws(ExchangeFailure) {
            let replies = try await session.connection.exchange(buffer, count: count, limit: limit)
            return (true, distribute(replies, to: batch, unconfirmed(confirmation, replies.last, session)))
        } catch {
            guard !error.wasSent else {
                release(batch)
                let failed = RedisStoreError(error.error.code, "\(error.error.message); the change may be made")
                for ticket in batch { ticket.settle(.failure(failed)) }
                return (false, error.error.endsConnection ? error.error : nil)
            }
            // Nothing was sent: the next connection carries it out, within the same time limits.
            requeue(batch)
            return (false, nil)
        }
    }

    /// Why the writes of an exchange are not confirmed; nil when they are.
    private func unconfirmed(_ confirmation: Command?, _ reply: RedisReply?, _ session: Session) -> RedisStoreError? {
        guard confirmation != nil else { return nil }
        // A server that has become a replica refuses to wait, also where a script found nothing to write.
        if case .error(let error)? = reply {
            let meaning = RedisStoreError(answer: error, from: name)
            return RedisStoreError(
                meaning.code, "\(meaning.message) (it does not confirm writes; the change may be made)")
        }
        if let reply, session.confirmation.isMet(by: reply) { return nil }
        return RedisStoreError(
            .notConfirmed,
            "\(name): the write was not confirmed by the disk or by enough replicas in time; it may be made")
    }

    private func release(_ batch: [Ticket]) {
        state.withLock { state in
            state.sent = []
            state.count -= batch.count
            state.bytes -= batch.reduce(0) { $0 + $1.bytes }
        }
    }

    private func requeue(_ batch: [Ticket]) {
        let left = batch.filter { !$0.isSettled }
        release(batch)
        let isClosed = state.withLock { state in
            guard !state.phase.isClosed else { return true }
            state.waiting.insert(contentsOf: left, at: 0)
            state.count += left.count
            state.bytes += left.reduce(0) { $0 + $1.bytes }
            return false
        }
        if isClosed {
            for ticket in left { ticket.settle(.failure(RedisStoreError(.closed, "\(name): the store was closed"))) }
        }
    }

    private func distribute(
        _ replies: [RedisReply], to batch: [Ticket], _ unconfirmed: RedisStoreError?
    ) -> RedisStoreError? {
        var index = 0
        var again: [Ticket] = []
        var serious = unconfirmed.flatMap { $0.endsConnection ? $0 : nil }
        release(batch)
        for ticket in batch {
            if ticket.isAsking { index += 1 }
            guard index < replies.count else { break }
            let reply = replies[index]
            index += 1
            if case .error(let refusal) = reply {
                // The server has forgotten its scripts; the text makes it know them again.
                if refusal.kind == .noScript, ticket.sendText() {
                    again.append(ticket)
                    continue
                }
                let error = RedisStoreError(answer: refusal, from: name)
                if error.endsConnection { serious = error }
                ticket.settle(error.code == .replaced ? .failure(error) : .success(reply))
            } else if let unconfirmed {
                ticket.settle(.failure(unconfirmed))
            } else {
                ticket.settle(.success(reply))
            }
        }
        if !again.isEmpty {
            state.withLock { state in
                state.waiting.insert(contentsOf: again, at: 0)
                state.count += again.count
                state.bytes += again.reduce(0) { $0 + $1.bytes }
            }
            signal.yield()
        }
        return serious
    }
}

extension Link.Phase {
    fileprivate var isClosed: Bool {
        if case .closed = self { true } else { false }
    }
}

extension Link.State {
    /// Changes the phase.
    ///
    /// Returns false when the link is closed, which is the last phase.
    fileprivate mutating func enter(_ next: Link.Phase, _ connection: Connection? = nil) -> Bool {
        guard !phase.isClosed else { return false }
        self.connection = connection
        phase = next
        return true
    }

    /// Changes the phase to that of a connection that is being made, which is verified by what the server says from now on.
    fileprivate mutating func begin() -> Bool {
        needsReview = false
        return enter(.connecting)
    }

    fileprivate mutating func takeReview() -> Bool {
        defer { needsReview = false }
        return needsReview
    }
}
