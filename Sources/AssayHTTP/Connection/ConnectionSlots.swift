internal import NIOCore
internal import Synchronization

/// Counts the open connections, and makes room when there are as many as there may be.
///
/// Whoever has kept the server waiting longest has to go: the connection that was idle longest, or whose request has
/// been dripping in longest. One that is being answered stays, and so does any whose client has not been silent for
/// longer than the grace. So clients that only hold connections cannot keep the others out.
final class ConnectionSlots: Sendable {
    /// Sent through a connection's pipeline: it is to close, or to say ``ConnectionSlots/stay()``.
    struct MakeRoom: Sendable {}

    private struct State {
        var open = 0
        /// Those that were told to make room and have not closed yet.
        var leaving = 0
        /// How many connections are to make room as soon as their client has been silent for long enough.
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
    ///   - grace: for how long a silent client is left in peace.
    ///   - eventLoop: tells the time, and looks after those who want room.
    init(most: Int, grace: Duration, eventLoop: any EventLoop) {
        self.most = most
        self.grace = TimeAmount(grace)
        self.eventLoop = eventLoop
    }

    // MARK: - What the listening socket says

    func opened() {
        state.withLock { $0.open += 1 }
    }

    func closed() {
        state.withLock { state in
            state.open -= 1
            if state.leaving > 0 { state.leaving -= 1 }
        }
    }

    /// Whether one more connection may be taken. When not, some connection will close for it as soon as one can.
    func hasRoom() -> Bool {
        let hasRoom = state.withLock { state in
            state.owed = max(0, state.open - most + 1 - state.leaving)
            return state.open < most
        }
        if !hasRoom { settle() }
        return hasRoom
    }

    // MARK: - What the connections say

    /// The connection begins to wait for its client. Returns what to give to ``end(_:)``.
    func begin(_ channel: any Channel) -> IdleQueue.Ticket {
        let now = eventLoop.now
        return state.withLock { $0.line.append(channel, at: now) }
    }

    /// The connection does not wait any longer.
    func end(_ ticket: IdleQueue.Ticket) {
        state.withLock { $0.line.remove(ticket) }
    }

    /// A connection that was told to make room is being answered by now, and stays.
    func stay() {
        state.withLock { state in
            // Another one may have closed in its place.
            guard state.leaving > 0 else { return }
            state.leaving -= 1
            state.owed += 1
        }
        settle()
    }

    // MARK: - Making room

    /// Tells those to go who have to, and comes back when the next one may have to.
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
            // Nobody waits: those who are answered now will not have been silent for long enough before then.
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
