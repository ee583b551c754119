internal import AssayTransport

/// What the calls of one connection hold, out of what the process may hold.
///
/// It belongs to the connection's event loop.
final class ConnectionRoom {
    private let most: Int
    private let budget: TransportBudget
    private var held = 0

    /// - Parameters:
    ///   - most: the most bytes of the connection.
    ///   - budget: that of the process.
    init(most: Int, budget: TransportBudget) {
        self.most = most
        self.budget = budget
    }

    /// Reserves bytes; false, and nothing reserved, when they do not fit.
    func reserve(_ bytes: Int) -> Bool {
        guard bytes <= most - held, budget.reserve(bytes: bytes) else { return false }
        held += bytes
        return true
    }

    func release(_ bytes: Int) {
        guard bytes > 0 else { return }
        held -= bytes
        budget.release(bytes: bytes)
    }

    /// Takes a place for a stream; false when all are taken.
    func openStream() -> Bool { budget.openStream() }

    func closeStream() { budget.closeStream() }
}
