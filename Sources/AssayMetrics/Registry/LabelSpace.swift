internal import AssayKit

/// The values that the labels of a metric may have, each set of them packed into one number.
struct LabelSpace: Sendable {
    private struct Axis: Sendable {
        let name: String
        let values: [String]
        let indices: [ExactText: Int]
        /// Those that were found on the way; they stand behind `values`.
        let found: FoundValues
        /// How far two neighbours on this axis lie apart.
        let stride: Int
    }

    private let axes: [Axis]
    /// How many sets of values there are.
    let count: Int

    /// What stands for every value that was not declared.
    static let other = "other"

    /// - Throws: ``MetricError`` when there are more sets than anybody could want.
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

    /// Where a value leads on the axis of a label; what was not declared, and can't be added, leads to `other`.
    func offset(_ position: Int, _ value: String) -> Int {
        let axis = axes[position]
        if let index = axis.indices[value] { return index * axis.stride }
        if let index = axis.found.index(of: value) { return (axis.values.count + index) * axis.stride }
        return (axis.values.count - 1) * axis.stride
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
