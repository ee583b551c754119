internal import AssayCore
internal import Synchronization

/// Challenges that this process has seen in an exchange, and refuses in another one.
///
/// One memory has those that came with refused evidence. The use of a challenge is stored only when the evidence was genuine. A
/// stranger can send many challenges with invalid evidence; these are remembered here, in bounded memory, so that only
/// clients with a genuine app can make the state grow. If a challenge is forgotten too early, or by a restart, another
/// try is possible, but it needs genuine evidence.
///
/// Another one has those of good evidence. It only saves the work of verifying evidence again: what refuses a repetition for
/// certain is the state, by the challenge or by what the evidence itself uses up.
///
/// The memory is divided by the networks of peers (`PeerGroup.network`), by a secret of the process: a stranger can
/// push out those of only a few others, however many addresses its network has.
final class ChallengeMemory: Sendable {
    /// The 16 random bytes of a genuine challenge.
    private struct Mark: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ challenge: [UInt8]) {
            high = UInt64(bigEndianBytes: challenge.dropFirst(21).prefix(8))
            low = UInt64(bigEndianBytes: challenge.dropFirst(29).prefix(8))
        }
    }

    /// The latest marks, in a ring.
    private struct Part {
        var marks: [Mark] = []
        /// The place of the oldest mark, once the ring is full.
        var oldest = 0

        /// Remembers a mark; returns the one that it replaces.
        mutating func put(_ mark: Mark, capacity: Int) -> Mark? {
            guard marks.count >= capacity else {
                marks.append(mark)
                return nil
            }
            let forgotten = marks[oldest]
            marks[oldest] = mark
            oldest = (oldest + 1) % capacity
            return forgotten
        }
    }

    private struct State {
        var parts: [Int: Part] = [:]
        var known: Set<Mark> = []
    }

    private static let parts = 64

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: how many are remembered at most; about 3 MB at 65,536, if all are used.
    init(capacity: Int = 65_536) {
        self.capacity = max(capacity / Self.parts, 1)
    }

    /// - Parameter challenge: a genuine challenge of this service.
    func remember(_ challenge: [UInt8], of peer: PeerGroup) {
        let mark = Mark(challenge)
        let index = Int(UInt(bitPattern: peer.network.hashValue) % UInt(Self.parts))
        state.withLock { state in
            guard state.known.insert(mark).inserted else { return }
            let forgotten = state.parts[index, default: Part()].put(mark, capacity: capacity)
            if let forgotten { state.known.remove(forgotten) }
        }
    }

    func contains(_ challenge: [UInt8]) -> Bool {
        state.withLock { $0.known.contains(Mark(challenge)) }
    }
}
