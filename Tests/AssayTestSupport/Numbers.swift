public import AssayCore
internal import AssayKit
import Synchronization

/// What a meter was told: each number under the metric's name and its labels.
public final class Numbers: Sendable {
    private let values = Mutex<[[String]: Double]>([:])

    /// Makes an empty record.
    public init() {}

    /// The number of a metric with these labels; nil when it was never reported.
    public subscript(_ name: String, _ labels: String...) -> Double? { values.withLock { $0[[name] + labels] } }

    /// A meter that reports to this record.
    public var meter: Meter {
        Meter { _, metric, change, labels in
            self.values.withLock { values in
                switch change {
                case .add(let amount): values[[metric.name] + labels, default: 0] += amount
                case .set(let value), .observe(let value): values[[metric.name] + labels] = value
                }
            }
        }
    }
}
