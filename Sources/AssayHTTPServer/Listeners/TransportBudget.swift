internal import Synchronization

/// The budget of all connections of a process: for the connections themselves, for bytes of unfinished and unanswered
/// requests and of their replies, and for open requests.
///
/// One budget is shared by every listener of a process. A listener reserves before it keeps anything for a client, and
/// releases exactly what it reserved. When the budget is full, the newest work is refused. Its last eighth is for
/// connections only, so that a connection with one request too many can still get an answer. Replies that clients do not
/// read may hold a quarter of it, and those of one peer an eighth: the oldest ones beyond that are given up.
public final class TransportBudget: Sendable {
    /// The most bytes.
    public let byteLimit: Int
    /// The most open requests: streams of HTTP/2 and gRPC, and requests of HTTP/1.1.
    public let streamLimit: Int

    /// The most bytes while a request, and not a connection, asks for more.
    let requestByteLimit: Int
    private let heldBytes = Atomic<Int>(0)
    private let openStreams = Atomic<Int>(0)
    private let refusals = Atomic<Int>(0)
    /// The parts that single peers hold.
    package let rooms = PeerBudgets()
    /// The replies that clients have not read.
    let unread: UnreadReplies

    /// - Parameters:
    ///   - bytes: the default leaves room for the rest of the process in a container of 1 GB. What a listener reserves includes
    ///     what its own objects cost, as it was measured.
    ///   - streams: each costs about 10 KB in addition to its bytes.
    public init(bytes: Int = 536_870_912, streams: Int = 32_768) {
        // The sum of two limits never overflows.
        byteLimit = min(max(0, bytes), 1 << 60)
        streamLimit = min(max(0, streams), 1 << 60)
        requestByteLimit = byteLimit - byteLimit / 8
        unread = UnreadReplies(bytes: byteLimit, streams: streamLimit)
    }

    /// The bytes that are held now.
    public var bytes: Int { heldBytes.load(ordering: .relaxed) }
    /// The requests that are open now.
    public var streams: Int { openStreams.load(ordering: .relaxed) }
    /// How many reservations were refused.
    public var refused: Int { refusals.load(ordering: .relaxed) }

    /// Whether more than half is used: from then on each connection may have only a small share for unfinished
    /// requests, so that a few connections cannot take the rest.
    public var isScarce: Bool { bytes > byteLimit / 2 || streams > streamLimit / 2 }

    /// Reserves bytes for a request or its reply; false, without a reservation, when they do not fit.
    public func reserve(bytes: Int) -> Bool {
        take(bytes, of: heldBytes, limit: requestByteLimit)
    }

    /// Reserves bytes for a connection itself, which may use the part that requests may not.
    package func reserve(connectionBytes: Int) -> Bool {
        take(connectionBytes, of: heldBytes, limit: byteLimit)
    }

    /// Releases reserved bytes.
    public func release(bytes: Int) {
        heldBytes.subtract(bytes, ordering: .relaxed)
    }

    /// Reserves an open request; false when no more are allowed.
    public func openStream() -> Bool {
        take(1, of: openStreams, limit: streamLimit)
    }

    /// Releases an open request.
    public func closeStream() {
        openStreams.subtract(1, ordering: .relaxed)
    }

    /// Counts a refusal that a listener decided on because of ``isScarce``.
    func countRefusal() {
        refusals.add(1, ordering: .relaxed)
    }

    private func take(_ amount: Int, of counter: borrowing Atomic<Int>, limit: Int) -> Bool {
        guard amount >= 0 else { return false }
        if amount <= limit {
            let (_, now) = counter.add(amount, ordering: .relaxed)
            if now <= limit { return true }
            counter.subtract(amount, ordering: .relaxed)
        }
        countRefusal()
        return false
    }
}
