import AssayCore
import Synchronization

/// A meter that adds up what is recorded, by the metric's name and the values of its labels.
final class CountingMeter: Sendable {
    private let sums = Mutex<[[ExactText]: Double]>([:])

    var meter: Meter {
        Meter { [self] scope, metric, change, labels in
            let key = ([scope + metric.name] + labels).map { ExactText($0) }
            sums.withLock { sums in
                switch change {
                case .add(let amount): sums[key, default: 0] += amount
                case .set(let value): sums[key] = value
                case .observe: break
                }
            }
        }
    }

    /// The sum; 0 when nothing was recorded.
    subscript(_ words: String...) -> Double {
        sums.withLock { $0[words.map { ExactText($0) }] ?? 0 }
    }
}
