internal import AssayTransport

/// The bytes that the calls of one connection hold, out of the process's budget.
///
/// It belongs to the connection's event loop.
final class ConnectionRoom {
    private let most: Int
    private let budget: TransportBudget
    private var held = 0

    /// - Parameters:
    ///   - most: the most bytes of the connection.
    ///   - budget: the budget of the process.
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

    /// Reserves a stream; false when no more are allowed.
    func openStream() -> Bool { budget.openStream() }

    func closeStream() { budget.closeStream() }
}
