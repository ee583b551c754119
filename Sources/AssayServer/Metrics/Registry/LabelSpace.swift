internal import AssayCore
internal import Synchronization

/// The values that the labels of a metric may have, each set of them packed into one number.
struct LabelSpace: Sendable {
    private struct Axis: Sendable {
        let name: String
        let values: [String]
        let indices: [ExactText: Int]
        /// The values that were found at run time; they follow `values`.
        let found: FoundValues
        /// The distance of two neighbours on this axis.
        let stride: Int
    }

    private let axes: [Axis]
    /// The number of sets of values.
    let count: Int

    /// The value that stands for all undeclared ones.
    static let other = "other"

    /// - Throws: ``MetricError`` when the number of sets exceeds the limit.
    init(_ metric: Metric) throws(MetricError) {
        var axes: [Axis] = []
        var stride = 1
        for label in metric.labels {
            var indices: [ExactText: Int] = [:]
            var values: [String] = []
            for value in label.values + [LabelSpace.other] where indices[value] == nil {
                indices[value] = values.count
                values.append(value)
            }
            axes.append(
                Axis(
                    name: label.name, values: values, indices: indices, found: FoundValues(limit: label.openValues),
                    stride: stride))
            let (product, overflow) = stride.multipliedReportingOverflow(by: values.count + label.openValues)
            guard !overflow, product <= 1 << 40 else {
                throw MetricError("the labels of '\(metric.name)' have too many values")
            }
            stride = product
        }
        self.axes = axes
        self.count = stride
    }

    var labelCount: Int { axes.count }

    /// The offset of a value on the axis of a label; an undeclared value that cannot be added counts as `other`.
    func offset(_ position: Int, _ value: String) -> Int {
        let axis = axes[position]
        if let index = axis.indices[value] { return index * axis.stride }
        if let index = axis.found.index(of: value) { return (axis.values.count + index) * axis.stride }
        return (axis.values.count - 1) * axis.stride
    }

    /// Makes room for other values that are found at run time; packed sets with the present ones mean nothing then.
    func forgetFoundValues() {
        for axis in axes { axis.found.forget() }
    }

    /// The names and values of a packed set.
    func labels(of packed: Int) -> [(name: String, value: String)] {
        axes.map { axis in
            let index = packed / axis.stride % (axis.values.count + axis.found.limit)
            let value = index < axis.values.count ? axis.values[index] : axis.found[index - axis.values.count]
            return (axis.name, value)
        }
    }
}

/// The values of a label that were not known when it was declared, up to a limit.
final class FoundValues: Sendable {
    let limit: Int
    private let state = Mutex<(indices: [ExactText: Int], values: [String])>(([:], []))

    init(limit: Int) {
        self.limit = limit
    }

    /// The index of a value, which is added if there is room; nil if there is none, or if the value is too long.
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

    func forget() {
        state.withLock { $0 = ([:], []) }
    }

    subscript(index: Int) -> String {
        state.withLock { $0.values.indices.contains(index) ? $0.values[index] : LabelSpace.other }
    }
}
