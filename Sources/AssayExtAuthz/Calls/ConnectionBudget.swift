internal import AssayHTTPServer
internal import Synchronization

/// What the calls of one connection hold, out of the process's budget.
final class ConnectionBudget: Sendable {
    private let mostBytes: Int
    private let mostCalls: Int
    private let budget: TransportBudget
    private let bytes = Atomic<Int>(0)
    private let calls = Atomic<Int>(0)

    /// - Parameters:
    ///   - bytes: the most bytes of the connection.
    ///   - calls: the most calls of the connection, with those that were reset and are still worked on.
    ///   - budget: the budget of the process.
    init(bytes: Int, calls: Int, budget: TransportBudget) {
        mostBytes = bytes
        mostCalls = calls
        self.budget = budget
    }

    /// Reserves bytes; false, and nothing reserved, when they do not fit.
    fileprivate func reserve(_ count: Int) -> Bool {
        guard count <= mostBytes else { return false }
        if bytes.add(count, ordering: .relaxed).newValue <= mostBytes, budget.reserve(bytes: count) { return true }
        bytes.subtract(count, ordering: .relaxed)
        return false
    }

    fileprivate func release(_ count: Int) {
        guard count > 0 else { return }
        bytes.subtract(count, ordering: .relaxed)
        budget.release(bytes: count)
    }

    /// Reserves a call; false when no more are allowed.
    fileprivate func begin() -> Bool {
        if calls.add(1, ordering: .relaxed).newValue <= mostCalls, budget.openStream() { return true }
        calls.subtract(1, ordering: .relaxed)
        return false
    }

    fileprivate func end() {
        calls.subtract(1, ordering: .relaxed)
        budget.closeStream()
    }
}

/// What one call holds of its connection's part of the budget.
///
/// It is released with its last reference. The service has one while it works on the call, so that a call whose client has
/// reset it counts until then: a client cannot make the server work on more than it may have open by resetting.
final class CallReservation: Sendable {
    private let room: ConnectionBudget
    private let bytes = Atomic<Int>(0)

    /// Reserves a call; nil when no more are allowed.
    init?(_ room: ConnectionBudget) {
        guard room.begin() else { return nil }
        self.room = room
    }

    deinit {
        room.release(bytes.load(ordering: .relaxed))
        room.end()
    }

    /// Reserves bytes; false, and nothing reserved, when they do not fit.
    func reserve(_ count: Int) -> Bool {
        guard room.reserve(count) else { return false }
        bytes.add(count, ordering: .relaxed)
        return true
    }

    func release(_ count: Int) {
        bytes.subtract(count, ordering: .relaxed)
        room.release(count)
    }
}
