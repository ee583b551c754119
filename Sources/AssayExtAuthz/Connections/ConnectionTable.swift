internal import AssayCore
internal import NIOCore

/// The open connections, and the choice of which to close when there are too many.
///
/// A connection that is being answered stays. Of the others, those of the peer that has the most are closed first, and
/// among them the one that the server has waited for longest. So a client that only keeps connections open cannot keep
/// others out.
struct ConnectionTable {
    enum Admission {
        case admitted
        /// The given connection has left the table, and is to be closed.
        case inPlaceOf(OpenConnection)
        case refused
    }

    private let most: Int
    private let mostOfPeer: Int
    private var connections: [ObjectIdentifier: OpenConnection] = [:]
    private var ofPeer: [PeerGroup: Int] = [:]
    private var isClosed = false

    /// - Parameters:
    ///   - most: the most connections.
    ///   - mostOfPeer: the most of one peer that has an address.
    init(most: Int, ofPeer mostOfPeer: Int) {
        self.most = most
        self.mostOfPeer = mostOfPeer
    }

    var count: Int { connections.count }

    /// Admits no further connection.
    ///
    /// - Returns: the connections, which are to be closed.
    mutating func close() -> [OpenConnection] {
        isClosed = true
        return Array(connections.values)
    }

    mutating func admit(_ connection: OpenConnection) -> Admission {
        guard !isClosed else { return .refused }
        let own = ofPeer[connection.peer, default: 0]
        let isFull = connections.count >= most
        let hasTooMany = connection.peer != .unknown && own >= mostOfPeer
        guard isFull || hasTooMany else {
            insert(connection)
            return .admitted
        }
        guard let leaving = leaving(for: connection.peer, amongOwn: hasTooMany) else { return .refused }
        remove(leaving)
        insert(connection)
        return .inPlaceOf(leaving)
    }

    /// Removes a connection; nothing happens when it is removed already.
    mutating func remove(_ connection: OpenConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        let left = ofPeer[connection.peer, default: 1] - 1
        ofPeer[connection.peer] = left > 0 ? left : nil
    }

    private mutating func insert(_ connection: OpenConnection) {
        connections[ObjectIdentifier(connection)] = connection
        ofPeer[connection.peer, default: 0] += 1
    }

    /// A peer makes room for itself, and for peers that have no more connections than it.
    private func leaving(for peer: PeerGroup, amongOwn isOwn: Bool) -> OpenConnection? {
        var best: (connection: OpenConnection, count: Int, since: NIODeadline)?
        let least = ofPeer[peer, default: 0]
        for connection in connections.values {
            let count = ofPeer[connection.peer, default: 0]
            guard isOwn ? connection.peer == peer : count >= least, let since = connection.waiting else { continue }
            if let best, (best.count, since) > (count, best.since) { continue }
            best = (connection, count, since)
        }
        return best?.connection
    }
}
