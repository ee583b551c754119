public import AssayCore
internal import Synchronization

/// Remembers which proofs were used.
///
/// A backend of one process takes ``MemoryUsedProofs``. One of several needs a memory that they share, such as a key in
/// Redis that is set only if it is absent (`SET … NX PXAT`).
public protocol UsedProofs: Sendable {
    /// Since when it knows every use: the start of a process for one in its memory, which ``ProofDemand`` must know; nil for
    /// one that lasts longer than proofs are good.
    var beginning: Instant? { get }

    /// Remembers a proof, in one step with the question whether it is known.
    ///
    /// - Parameters:
    ///   - id: a text of 43 characters.
    ///   - end: until when it must be remembered.
    /// - Returns: whether it was not known.
    /// - Throws: when that is unknown: the request must not be allowed.
    func use(_ id: String, until end: Instant) async throws -> Bool
}

/// Remembers used proofs in the memory of one process.
///
/// It knows nothing of what was used before its start: ``ProofDemand`` takes no proof that was made before, or in its first
/// five seconds.
public final class MemoryUsedProofs: UsedProofs {
    /// The memory is full: more proofs are good at the same time than it may hold.
    public struct Full: Error, Sendable, CustomStringConvertible {
        /// What to do.
        public let description = "more proofs were used within their time than the memory holds; raise its limit"
    }

    /// Proofs were forgotten that end later, because a clock was ahead for more than ten minutes.
    ///
    /// A new memory, such as that of a new process, knows since when it knows every use.
    public struct Undecided: Error, Sendable, CustomStringConvertible {
        /// What to do.
        public let description =
            "it is unknown whether the proof was used, because a clock was ahead; start the process again"
    }

    private struct State {
        /// The proofs by the whole minute after their end, so that a minute's are forgotten at once.
        var minutes: [Int64: Set<ExactText>] = [:]
        var count = 0
        /// The proofs of the minutes before this one are forgotten.
        var oldest = Int64.min
    }

    /// When it began.
    public let beginning: Instant?
    private let limit: Int
    private let settled: SettledTime
    private let state = Mutex(State())

    /// Makes an empty memory.
    ///
    /// - Parameter limit: the most proofs, each of about 100 bytes, which are remembered for ten minutes.
    public init(limit: Int = 500_000, clock: HostClock = .system) {
        self.limit = limit
        settled = SettledTime(clock)
        beginning = clock.now
    }

    /// Remembers a proof.
    ///
    /// - Throws: ``Full``, ``Undecided``.
    public func use(_ id: String, until end: Instant) async throws -> Bool {
        let (minute, now) = (end.seconds / 60 + 1, settled.now.seconds / 60)
        return try state.withLock { state in
            for past in state.minutes.keys where past < now {
                state.count -= state.minutes.removeValue(forKey: past)?.count ?? 0
            }
            state.oldest = max(state.oldest, now)
            // A clock that was set back brings no proof back.
            guard minute >= state.oldest else { throw Undecided() }
            guard state.minutes[minute]?.contains(ExactText(id)) != true else { return false }
            guard state.count < limit else { throw Full() }
            state.minutes[minute, default: []].insert(ExactText(id))
            state.count += 1
            return true
        }
    }
}
