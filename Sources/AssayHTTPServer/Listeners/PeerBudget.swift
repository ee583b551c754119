package import AssayCore
internal import Synchronization

/// The part of the process's budget that all connections of one peer hold together.
///
/// Once the budget is scarce, a peer that holds half as much as is free gets no more. So a number of greedy peers, N, hold equal parts after
/// a while and leave two parts of N + 2 to all others (the dynamic threshold of switches, Choudhury and Hahne, 1998). Only a
/// trusted proxy has no such limit, because all of its clients are one peer.
package final class PeerBudget: Sendable {
    private let budget: TransportBudget
    /// Whether the peer is limited to a share, as all but trusted proxies are.
    package let isBounded: Bool
    private let heldBytes = Atomic<Int>(0)
    private let openStreams = Atomic<Int>(0)

    /// Once the budget is scarce, a peer has at most one part in this number of what is free.
    private static let share = 2

    package init(_ budget: TransportBudget, isBounded: Bool = false) {
        self.budget = budget
        self.isBounded = isBounded
    }

    package var isScarce: Bool { budget.isScarce }

    package func countRefusal() { budget.countRefusal() }

    /// Like ``TransportBudget/reserve(bytes:)``, and within the peer's share.
    package func reserve(bytes: Int) -> Bool {
        take(bytes, of: heldBytes, free: budget.requestByteLimit - budget.bytes) { budget.reserve(bytes: bytes) }
    }

    package func reserve(connectionBytes bytes: Int) -> Bool {
        take(bytes, of: heldBytes, free: budget.byteLimit - budget.bytes) { budget.reserve(connectionBytes: bytes) }
    }

    package func release(bytes: Int) {
        heldBytes.subtract(bytes, ordering: .relaxed)
        budget.release(bytes: bytes)
    }

    package func openStream() -> Bool {
        take(1, of: openStreams, free: budget.streamLimit - budget.streams) { budget.openStream() }
    }

    package func closeStream() {
        openStreams.subtract(1, ordering: .relaxed)
        budget.closeStream()
    }

    /// A reply could not be sent at once: until ``endUnread(_:)`` it counts as one that the peer does not read.
    ///
    /// - Parameters:
    ///   - bytes: what it holds of the budget.
    ///   - abandon: ends the request, because unread replies hold too much; called once at most, on any thread.
    package func beginUnread(bytes: Int, abandon: @escaping @Sendable () -> Void) -> QueueTicket {
        budget.unread.begin(bytes: bytes, of: isBounded ? ObjectIdentifier(self) : nil, abandon: abandon)
    }

    /// The reply was sent, or never will be.
    package func endUnread(_ ticket: QueueTicket) {
        budget.unread.end(ticket)
    }

    private func take(
        _ amount: Int, of counter: borrowing Atomic<Int>, free: Int, _ reserve: () -> Bool
    ) -> Bool {
        let now = counter.add(amount, ordering: .relaxed).newValue
        if isBounded, budget.isScarce, now > free / PeerBudget.share {
            budget.countRefusal()
        } else if reserve() {
            return true
        }
        counter.subtract(amount, ordering: .relaxed)
        return false
    }
}

/// The peers that have open connections.
package final class PeerBudgets: Sendable {
    private struct Entry {
        let room: PeerBudget
        /// How many connections are open.
        var count = 0
    }

    private let entries = Mutex<[PeerGroup: Entry]>([:])

    /// The room of a peer that opens a connection; call ``close(_:)`` when it ends.
    ///
    /// - Parameter peer: nil for a peer without a share.
    package func open(_ peer: PeerGroup?, in budget: TransportBudget) -> PeerBudget {
        guard let peer else { return PeerBudget(budget) }
        return entries.withLock { entries in
            var entry = entries[peer] ?? Entry(room: PeerBudget(budget, isBounded: true))
            entry.count += 1
            entries[peer] = entry
            return entry.room
        }
    }

    package func close(_ peer: PeerGroup?) {
        guard let peer else { return }
        entries.withLock { entries in
            guard var entry = entries[peer] else { return }
            entry.count -= 1
            entries[peer] = entry.count > 0 ? entry : nil
        }
    }

    /// How many peers have connections.
    var count: Int { entries.withLock { $0.count } }
}
