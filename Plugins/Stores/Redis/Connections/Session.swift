/// A connection that was verified: to a master that keeps what it acknowledges, with the known data.
struct Session: Sendable {
    let connection: Connection
    let facts: ServerFacts
    /// The digests of the scripts, in their order.
    let digests: [[UInt8]]
    /// How writes are confirmed.
    let confirmation: Confirmation
}

/// What follows the writes of one exchange, so that they are acknowledged only when they are kept.
struct Confirmation: Sendable, Equatable {
    enum Kind: Sendable {
        /// The answer suffices: the server flushes its file before it, or nothing is promised.
        case none
        /// `WAIT`: replicas have the writes in memory.
        case replicas
        /// `WAITAOF`: the disk has them, and the disks of replicas.
        case disks
    }

    let kind: Kind
    let replicas: Int

    func command(milliseconds: Int64) -> Command? {
        switch kind {
        case .none: nil
        case .replicas: Command("WAIT", "\(replicas)", "\(milliseconds)")
        case .disks: Command("WAITAOF", "1", "\(replicas)", "\(milliseconds)")
        }
    }

    /// Whether the writes are kept as they have to be.
    func isMet(by reply: RedisReply) -> Bool {
        switch kind {
        case .none: true
        case .replicas: (reply.number ?? -1) >= Int64(replicas)
        case .disks:
            if let counts = reply.elements, counts.count == 2, let disk = counts[0].number,
                let others = counts[1].number
            {
                disk >= 1 && others >= Int64(replicas)
            } else {
                false
            }
        }
    }
}
