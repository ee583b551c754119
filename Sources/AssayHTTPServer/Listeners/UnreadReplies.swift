internal import Synchronization

/// The replies of a process that their clients have not read.
///
/// All of them together may hold a quarter of the budget, of its bytes and of its open requests, and those of one peer an
/// eighth. Beyond that the oldest are given up, so that clients that read nothing leave room for others.
final class UnreadReplies: Sendable {
    private let replies: Mutex<UnreadQueue>

    init(bytes: Int, streams: Int) {
        replies = Mutex(UnreadQueue(bytes: bytes, streams: streams))
    }

    /// A reply could not be sent at once.
    ///
    /// - Parameters:
    ///   - bytes: what it holds of the budget.
    ///   - peer: nil for a peer without a share.
    ///   - abandon: ends the request; called once at most, before ``end(_:)``.
    func begin(bytes: Int, of peer: ObjectIdentifier?, abandon: @escaping @Sendable () -> Void) -> QueueTicket {
        let (ticket, leaving) = replies.withLock { $0.append(bytes: bytes, of: peer, abandon: abandon) }
        for abandon in leaving { abandon() }
        return ticket
    }

    /// The reply was sent, or never will be.
    func end(_ ticket: QueueTicket) {
        replies.withLock { $0.remove(ticket) }
    }
}

/// Unread replies, oldest first, and which of them are given up.
struct UnreadQueue: Sendable {
    private struct Entry: Sendable {
        let bytes: Int
        let peer: ObjectIdentifier?
        let abandon: @Sendable () -> Void
    }

    /// What the replies of one peer hold.
    private struct Share {
        /// The tickets of these replies, oldest first.
        var line = LinkedQueue<Void>()
        var bytes = 0
    }

    /// The divisors of the budget: for all, and for one peer.
    private static let (part, partOfPeer) = (4, 8)

    private let byteLimit: Int
    private let streamLimit: Int
    private var line = LinkedQueue<Entry>()
    private var shares: [ObjectIdentifier: Share] = [:]
    private(set) var bytes = 0

    /// - Parameters:
    ///   - bytes: the bytes of the budget.
    ///   - streams: its open requests.
    init(bytes: Int, streams: Int) {
        byteLimit = bytes
        streamLimit = streams
    }

    var count: Int { line.count }
    /// How many peers with a share have unread replies.
    var peers: Int { shares.count }

    /// Adds a reply, and removes the oldest ones that leave no room for it; their functions are returned.
    mutating func append(
        bytes: Int, of peer: ObjectIdentifier?, abandon: @escaping @Sendable () -> Void
    ) -> (QueueTicket, leaving: [@Sendable () -> Void]) {
        let ticket = line.append(Entry(bytes: bytes, peer: peer, abandon: abandon))
        self.bytes += bytes
        var leaving: [@Sendable () -> Void] = []
        if let peer {
            shares[peer, default: Share()].line.append((), as: ticket)
            shares[peer]?.bytes += bytes
            while let oldest = excess(of: peer), let entry = take(oldest) { leaving.append(entry.abandon) }
        }
        while isOver(line.count, self.bytes, Self.part), let oldest = line.first?.ticket, let entry = take(oldest) {
            leaving.append(entry.abandon)
        }
        return (ticket, leaving)
    }

    /// Removes a reply; nothing happens when it was given up.
    mutating func remove(_ ticket: QueueTicket) {
        _ = take(ticket)
    }

    private mutating func take(_ ticket: QueueTicket) -> Entry? {
        guard let entry = line.remove(ticket) else { return nil }
        bytes -= entry.bytes
        if let peer = entry.peer {
            shares[peer]?.line.remove(ticket)
            shares[peer]?.bytes -= entry.bytes
            if shares[peer]?.line.count == 0 { shares[peer] = nil }
        }
        return entry
    }

    /// The oldest reply of a peer that holds more than its share.
    private func excess(of peer: ObjectIdentifier) -> QueueTicket? {
        guard let share = shares[peer], isOver(share.line.count, share.bytes, Self.partOfPeer) else { return nil }
        return share.line.first?.ticket
    }

    /// The newest reply stays in any case.
    private func isOver(_ count: Int, _ bytes: Int, _ part: Int) -> Bool {
        count > 1 && (count > streamLimit / part || bytes > byteLimit / part)
    }
}
