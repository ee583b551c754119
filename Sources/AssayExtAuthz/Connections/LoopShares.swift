internal import AssayCore
internal import NIOCore

/// How much of an event loop's time each peer may use for its connections before all others are looked at again, and which
/// connection that waits continues next.
///
/// Time is divided in rounds, in each of which a peer may use a share. What it uses beyond, because a few frames took longer, is taken
/// from its next shares. Nothing is saved up. So a peer that sends little waits for one share of each other peer at most, and one
/// that sends much uses all the time that others leave.
///
/// It makes decisions only; times are given to it.
struct LoopShares {
    typealias Connection = ObjectIdentifier

    private struct Use {
        var connections = 0
        /// What is left of the share.
        var left = LoopShares.share
        /// In their order.
        var waiting: CircularBuffer<Connection> = []
    }

    /// As long as about ten calls take; a new round costs a hundredth of it.
    static let share = TimeAmount.milliseconds(1)

    private var peers: [PeerGroup: Use] = [:]
    /// The peers with connections that wait, in the order in which they continue.
    private var order: CircularBuffer<PeerGroup> = []

    /// A peer has one more connection.
    mutating func open(_ peer: PeerGroup) {
        peers[peer, default: Use()].connections += 1
    }

    /// A connection is closed.
    mutating func close(_ connection: Connection, of peer: PeerGroup) {
        guard var use = peers[peer] else { return }
        use.connections -= 1
        use.waiting.removeAll { $0 == connection }
        peers[peer] = use.connections > 0 ? use : nil
        if use.waiting.isEmpty { order.removeAll { $0 == peer } }
    }

    /// Whether a peer may use more in this round.
    ///
    /// - Parameter time: what it has used, and ``use(_:by:)`` was not told yet.
    func mayContinue(_ peer: PeerGroup, after time: TimeAmount) -> Bool {
        guard let use = peers[peer] else { return true }
        return use.left > time
    }

    mutating func use(_ time: TimeAmount, by peer: PeerGroup) {
        guard let left = peers[peer]?.left else { return }
        peers[peer]?.left = left - time
    }

    /// A connection waits until ``next()`` returns it.
    mutating func wait(_ connection: Connection, of peer: PeerGroup) {
        guard let use = peers[peer] else { return }
        if use.waiting.isEmpty { order.append(peer) }
        peers[peer]?.waiting.append(connection)
    }

    var isAnyWaiting: Bool { !order.isEmpty }

    /// All peers were looked at: each gets a share.
    mutating func beginRound() {
        for index in peers.indices {
            peers.values[index].left = min(peers.values[index].left + Self.share, Self.share)
        }
    }

    /// Takes the next connection that may continue in this round; nil if there is none.
    mutating func next() -> Connection? {
        for _ in 0..<order.count {
            let peer = order.removeFirst()
            guard var use = peers[peer], !use.waiting.isEmpty else { continue }
            guard use.left > .nanoseconds(0) else {
                order.append(peer)
                continue
            }
            let connection = use.waiting.removeFirst()
            if !use.waiting.isEmpty { order.append(peer) }
            peers[peer] = use
            return connection
        }
        return nil
    }
}
