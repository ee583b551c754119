internal import Synchronization

/// What all connections of a process may hold together: bytes of unfinished and unanswered requests and of their replies, and open
/// requests.
///
/// One budget is shared by every listener of a process. A listener reserves before it keeps anything for a client, and releases
/// exactly what it reserved.
public final class TransportBudget: Sendable {
    /// The most bytes.
    public let byteLimit: Int
    /// The most open requests: streams of HTTP/2 and gRPC, and requests of HTTP/1.1.
    public let streamLimit: Int

    private let heldBytes = Atomic<Int>(0)
    private let openStreams = Atomic<Int>(0)
    private let refusals = Atomic<Int>(0)

    /// - Parameters:
    ///   - bytes: the default leaves room for the rest of the process in a container of 1 GB.
    ///   - streams: each costs about 4 KB beside its bytes.
    public init(bytes: Int = 268_435_456, streams: Int = 16_384) {
        byteLimit = max(0, bytes)
        streamLimit = max(0, streams)
    }

    /// The bytes that are held now.
    public var bytes: Int { heldBytes.load(ordering: .relaxed) }
    /// The requests that are open now.
    public var streams: Int { openStreams.load(ordering: .relaxed) }
    /// How many reservations were refused.
    public var refused: Int { refusals.load(ordering: .relaxed) }

    /// Reserves bytes; false, and nothing reserved, when they do not fit.
    public func reserve(bytes: Int) -> Bool {
        take(bytes, of: heldBytes, limit: byteLimit)
    }

    /// Gives back bytes that were reserved.
    public func release(bytes: Int) {
        heldBytes.subtract(bytes, ordering: .relaxed)
    }

    /// Takes a place for an open request; false when all are taken.
    public func openStream() -> Bool {
        take(1, of: openStreams, limit: streamLimit)
    }

    /// Gives a place back.
    public func closeStream() {
        openStreams.subtract(1, ordering: .relaxed)
    }

    private func take(_ amount: Int, of counter: borrowing Atomic<Int>, limit: Int) -> Bool {
        guard amount >= 0 else { return false }
        let (_, now) = counter.add(amount, ordering: .relaxed)
        if now <= limit { return true }
        counter.subtract(amount, ordering: .relaxed)
        refusals.add(1, ordering: .relaxed)
        return false
    }
}
