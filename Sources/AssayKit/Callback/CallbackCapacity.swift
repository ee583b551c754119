internal import AssayCore
internal import Synchronization

/// How many calls are in flight, and may be: in total, for one user or token, and for one peer.
///
/// Only requests with a verified token get here. Without bounds of their own, one client with one genuine device could
/// hold all places while the backend is slow.
final class CallbackCapacity: Sendable {
    private struct State {
        var taken = 0
        var bySubject: [ExactText: Int] = [:]
        var byPeer: [FloodSource: Int] = [:]
    }

    /// For one user or token.
    static let subjectWidth = 4

    private let width: Int
    private let state = Mutex(State())

    init(width: Int) {
        self.width = width
    }

    /// Takes a place; false when none is free.
    func enter(_ requester: OperatorCallback.Requester) -> Bool {
        state.withLock { state in
            // Clients behind a proxy share an address, so one peer may have half of the places, but not more.
            guard state.taken < width, state.bySubject[requester.subject, default: 0] < Self.subjectWidth,
                requester.peer.map({ state.byPeer[$0, default: 0] < max(width / 2, 1) }) ?? true
            else { return false }
            state.taken += 1
            state.bySubject[requester.subject, default: 0] += 1
            if let peer = requester.peer { state.byPeer[peer, default: 0] += 1 }
            return true
        }
    }

    func leave(_ requester: OperatorCallback.Requester) {
        state.withLock { state in
            state.taken -= 1
            Self.leave(requester.subject, &state.bySubject)
            if let peer = requester.peer { Self.leave(peer, &state.byPeer) }
        }
    }

    private static func leave<Key: Hashable>(_ key: Key, _ counts: inout [Key: Int]) {
        let count = counts[key, default: 0]
        counts[key] = count > 1 ? count - 1 : nil
    }
}
