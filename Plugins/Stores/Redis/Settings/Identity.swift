internal import AssayCore
internal import Synchronization

/// The identity of the data: a random value that the first store writes, and that is there as long as the data is.
///
/// A server that was started empty, or with other data, has none or another one. Then the store decides nothing until
/// the known data is there again, or until the program is restarted, for which an operator is needed.
final class Identity: Sendable {
    private struct State {
        /// By slot; 0 outside of a cluster.
        var known: [Int: [UInt8]] = [:]
        /// By slot, for those whose data is not the known one.
        var problems: [Int: String] = [:]
    }

    private let state = Mutex(State())

    /// Why nothing must be decided; nil when the data is the known one.
    var blockingReason: String? { state.withLock { $0.problems.values.first } }

    /// The slots whose identities are known.
    var slots: [Int] { state.withLock { Array($0.known.keys) } }

    /// What the identity must be; nil before the first connection.
    func known(slot: Int = 0) -> [UInt8]? { state.withLock { $0.known[slot] } }

    /// Compares what was found.
    func check(_ found: [UInt8], slot: Int, server: String) throws(RedisStoreError) {
        let isKnown = state.withLock { state in
            guard let known = state.known[slot] else {
                state.known[slot] = found
                return true
            }
            state.problems[slot] = known == found ? nil : Self.reason(server, isEmpty: found.isEmpty)
            return known == found
        }
        guard isKnown else { throw RedisStoreError(.replaced, Self.reason(server, isEmpty: found.isEmpty)) }
    }

    /// Notes that a script found another identity.
    func report(slot: Int, server: String) {
        state.withLock { $0.problems[slot] = Self.reason(server, isEmpty: false) }
    }

    private static func reason(_ server: String, isEmpty: Bool) -> String {
        "the data in Redis at \(server) was \(isEmpty ? "lost" : "lost or replaced") while it was in use: restore it; a "
            + "restart would use what is there now, and what only the other data has (what was used, keys in the state) would be lost"
    }
}
