internal import AssayCore
internal import Synchronization

/// Challenges that came with evidence that was refused: they are refused in another exchange.
///
/// Only genuine evidence has the use of a challenge written to the state store. A stranger can send as many challenges
/// with invalid evidence as the network carries. Those are remembered here, in bounded memory, so that only clients with a
/// genuine app can make a disk grow. What is forgotten too early, or by a restart, allows another try, which needs genuine
/// evidence.
///
/// The memory is divided by the networks of peers (``PeerGroup/network``), in a way that is secret to the process: a stranger
/// has the failures of few others forgotten before their time, however many addresses it has in a network.
final class FailedChallenges: Sendable {
    /// The 16 random bytes of a challenge that is ours.
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
        /// Where the oldest is, once the ring is full.
        var oldest = 0

        /// Remembers a mark; returns the one that it displaces.
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

    /// - Parameter capacity: how many are remembered at most; some 3 MB at 65,536, once so many failed.
    init(capacity: Int = 65_536) {
        self.capacity = max(capacity / Self.parts, 1)
    }

    /// - Parameter challenge: one of this service's, whole.
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
