internal import AssayCore
internal import Synchronization

/// The numbers of a metric for one set of its labels' values.
///
/// Recording takes one short lock that no other series shares, and allocates nothing.
public final class MetricSeries: Sendable {
    struct Reading: Sendable {
        /// The number; of a histogram, the sum of the values.
        var value = 0.0
        /// How many values are in each bucket and in none before it; the last bucket is for values above all bounds.
        var buckets: [UInt64] = []

        var count: UInt64 { buckets.reduce(0, &+) }
    }

    private let kind: Metric.Kind
    private let state: Mutex<Reading>

    init(_ kind: Metric.Kind) {
        self.kind = kind
        var reading = Reading()
        if case .histogram(let bounds) = kind {
            reading.buckets = Array(repeating: 0, count: bounds.count + 1)
        }
        state = Mutex(reading)
    }

    /// Adds to a counter or a gauge; a counter ignores negative amounts.
    public func add(_ amount: Double = 1) {
        switch kind {
        case .counter where amount >= 0, .gauge: state.withLock { $0.value += amount }
        case .counter, .histogram: break
        }
    }

    /// Sets a gauge.
    public func set(_ value: Double) {
        guard kind == .gauge else { return }
        state.withLock { $0.value = value }
    }

    /// Adds a value to a histogram; values that are not finite are ignored.
    public func observe(_ value: Double) {
        guard case .histogram(let bounds) = kind, value.isFinite else { return }
        // There are few bounds, and most values are within the first ones.
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { reading in
            reading.value += value
            reading.buckets[index] &+= 1
        }
    }

    /// Sets a counter to a value that is counted elsewhere, such as the processor time.
    public func mirror(_ value: Double) {
        state.withLock { $0.value = max($0.value, value) }
    }

    func apply(_ change: Meter.Change) {
        switch change {
        case .add(let amount): add(amount)
        case .set(let value): set(value)
        case .observe(let value): observe(value)
        }
    }

    var reading: Reading { state.withLock { $0 } }
}
