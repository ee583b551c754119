internal import Synchronization

/// How many calls are on their way, and may be.
final class CallbackPlaces: Sendable {
    private let width: Int
    private let taken = Mutex(0)

    init(width: Int) {
        self.width = width
    }

    /// Takes a place; false when there is none.
    func enter() -> Bool {
        taken.withLock { taken in
            guard taken < width else { return false }
            taken += 1
            return true
        }
    }

    func leave() {
        taken.withLock { $0 -= 1 }
    }
}
