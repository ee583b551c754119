internal import Synchronization

/// How many more series there may be, all metrics together.
final class SeriesBudget: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) {
        left = Atomic(count)
    }

    /// Whether there is room for another one, which is taken then.
    func take() -> Bool {
        if left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 { return true }
        left.wrappingAdd(1, ordering: .relaxed)
        return false
    }
}
