internal import AssayKit
internal import Synchronization

/// Challenges that came with evidence that was refused: they are not good for another try.
///
/// Only genuine evidence has the use of a challenge written to the state store. A stranger can send as many challenges
/// with rubbish as the network carries; those are remembered here, in a bounded piece of memory, so that nobody without
/// a genuine app can fill a disk. What is forgotten too early, or by a restart, allows another try with evidence that
/// would have to be genuine after all.
final class FailedChallenges: Sendable {
    private struct Generations {
        var recent: Set<String> = []
        var older: Set<String> = []
        var began = Instant(milliseconds: .min)
    }

    private let capacity: Int
    private let state = Mutex(Generations())

    /// - Parameter capacity: how many are remembered at least, before the oldest are forgotten; twice as many at most.
    init(capacity: Int = 50_000) {
        self.capacity = capacity
    }

    func remember(_ name: String, now: Instant) {
        state.withLock { state in
            if state.recent.count >= capacity || now - state.began > ChallengeIssuer.life {
                state.older = state.recent
                state.recent = []
                state.began = now
            }
            state.recent.insert(name)
        }
    }

    func contains(_ name: String) -> Bool {
        state.withLock { $0.recent.contains(name) || $0.older.contains(name) }
    }
}
