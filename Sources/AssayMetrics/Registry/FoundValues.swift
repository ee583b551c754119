internal import AssayKit
internal import Synchronization

/// The values of a label that were not known when it was declared, as many as it may have.
final class FoundValues: Sendable {
    let limit: Int
    private let state = Mutex<(indices: [ExactText: Int], values: [String])>(([:], []))

    init(limit: Int) {
        self.limit = limit
    }

    /// The place of a value, which it gets when there is room; nil when there is none, or the value is too long.
    func index(of value: String) -> Int? {
        guard limit > 0 else { return nil }
        return state.withLock { state in
            if let index = state.indices[value] { return index }
            guard state.values.count < limit, value.utf8.count <= Metric.Label.valueLimit else { return nil }
            state.indices[value] = state.values.count
            state.values.append(value)
            return state.values.count - 1
        }
    }

    subscript(index: Int) -> String {
        state.withLock { $0.values.indices.contains(index) ? $0.values[index] : LabelSpace.other }
    }
}
