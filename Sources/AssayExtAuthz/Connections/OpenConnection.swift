internal import AssayCore
internal import NIOCore
internal import Synchronization

/// An open connection, as other connections see it.
final class OpenConnection: Sendable {
    /// The peer that it is counted for.
    let peer: PeerGroup
    private let end: @Sendable () -> Void
    private let unanswered = Atomic(0)
    private let waitsSince: Atomic<UInt64>

    /// - Parameters:
    ///   - now: when it was opened.
    ///   - close: closes it at once, from any thread.
    init(peer: PeerGroup, at now: NIODeadline, close: @escaping @Sendable () -> Void) {
        self.peer = peer
        end = close
        waitsSince = Atomic(now.uptimeNanoseconds)
    }

    /// Since when the server waits for the client to send a complete call; nil while one is being answered.
    var waiting: NIODeadline? {
        guard unanswered.load(ordering: .relaxed) == 0 else { return nil }
        return .uptimeNanoseconds(waitsSince.load(ordering: .relaxed))
    }

    func callBegan() {
        unanswered.add(1, ordering: .relaxed)
    }

    func callAnswered(at now: NIODeadline) {
        waitsSince.store(now.uptimeNanoseconds, ordering: .relaxed)
        unanswered.subtract(1, ordering: .relaxed)
    }

    func close() { end() }
}
