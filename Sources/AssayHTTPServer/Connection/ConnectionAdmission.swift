internal import NIOCore
internal import Synchronization

/// Counts the open connections, and makes room for new ones when the limit is reached.
///
/// The connection that has kept the server waiting longest is closed: the one that was idle longest, or whose request
/// has arrived in pieces for longest. A connection that is being answered stays, and so does one whose client has been
/// silent for less than the grace time. So clients that only keep connections open cannot keep others out.
final class ConnectionAdmission: Sendable {
    /// Sent through a connection's pipeline: the connection must close, or call ``ConnectionAdmission/stay()``.
    struct MakeRoom: Sendable {}

    private struct State {
        var open = 0
        /// The connections that were told to make room and have not closed yet.
        var leaving = 0
        /// How many connections must make room as soon as their client has been silent for long enough.
        var owed = 0
        var line = IdleQueue()
        var isScheduled = false
    }

    private let most: Int
    private let grace: TimeAmount
    private let eventLoop: any EventLoop
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: the most connections at once.
    ///   - grace: how long a silent client keeps its connection in any case.
    ///   - eventLoop: the clock, and the thread of this object.
    init(most: Int, grace: Duration, eventLoop: any EventLoop) {
        self.most = most
        self.grace = TimeAmount(grace)
        self.eventLoop = eventLoop
    }

    // MARK: - The listening socket

    func opened() {
        state.withLock { $0.open += 1 }
    }

    func closed() {
        state.withLock { state in
            state.open -= 1
            if state.leaving > 0 { state.leaving -= 1 }
        }
    }

    /// Whether one more connection may be accepted.
    ///
    /// If not, a connection will close for it as soon as one can.
    func hasRoom() -> Bool {
        let hasRoom = state.withLock { state in
            state.owed = max(0, state.open - most + 1 - state.leaving)
            return state.open < most
        }
        if !hasRoom { settle() }
        return hasRoom
    }

    // MARK: - The connections

    /// The connection begins to wait for its client.
    ///
    /// Returns the ticket for ``end(_:)``.
    func begin(_ channel: any Channel) -> IdleQueue.Ticket {
        let now = eventLoop.now
        return state.withLock { $0.line.append(channel, at: now) }
    }

    /// The connection no longer waits for its client.
    func end(_ ticket: IdleQueue.Ticket) {
        state.withLock { $0.line.remove(ticket) }
    }

    /// A connection that was told to make room is being answered, and stays.
    func stay() {
        state.withLock { state in
            // Another connection may have closed instead.
            guard state.leaving > 0 else { return }
            state.leaving -= 1
            state.owed += 1
        }
        settle()
    }

    // MARK: - Making room

    /// Tells connections to close as needed, and schedules the next check.
    private func settle() {
        let now = eventLoop.now
        let (channels, next) = state.withLock { state in
            var channels: [any Channel] = []
            while state.owed > 0, let channel = state.line.popFirst(after: grace, at: now) {
                state.owed -= 1
                state.leaving += 1
                channels.append(channel)
            }
            guard state.owed > 0, !state.isScheduled else { return (channels, NIODeadline?.none) }
            state.isScheduled = true
            // No connection waits: those that are being answered will not have been silent for long enough before then.
            return (channels, (state.line.oldest ?? now) + grace)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(MakeRoom()) }
        guard let next else { return }
        eventLoop.scheduleTask(deadline: next) { [weak self] in
            guard let self else { return }
            state.withLock { $0.isScheduled = false }
            settle()
        }
    }
}

/// Connections in the order in which they began to wait for their clients.
struct IdleQueue {
    typealias Ticket = QueueTicket

    private var line = LinkedQueue<(channel: any Channel, since: NIODeadline)>()

    /// Since when the first connection in the queue waits.
    var oldest: NIODeadline? { line.first?.element.since }

    mutating func append(_ channel: any Channel, at now: NIODeadline) -> Ticket {
        line.append((channel, now))
    }

    mutating func remove(_ ticket: Ticket) {
        line.remove(ticket)
    }

    /// Removes the first connection if it has waited for this long.
    mutating func popFirst(after time: TimeAmount, at now: NIODeadline) -> (any Channel)? {
        guard let first = line.first, now - first.element.since >= time else { return nil }
        line.remove(first.ticket)
        return first.element.channel
    }
}
