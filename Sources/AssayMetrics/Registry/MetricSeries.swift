internal import AssayCore
internal import Synchronization

/// The numbers of a metric for one set of its labels' values.
///
/// Recording takes one short lock that no other series shares, and allocates nothing.
public final class MetricSeries: Sendable {
    struct Reading: Sendable {
        /// The number; of a histogram the sum of what was seen.
        var value = 0.0
        /// How many values lie in each bucket and in none before it; the last one is for those above all bounds.
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

    /// Adds to a counter or a gauge; a counter does not take what is negative.
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

    /// Puts a value into a histogram; what is not a finite number is left out.
    public func observe(_ value: Double) {
        guard case .histogram(let bounds) = kind, value.isFinite else { return }
        // Bounds are few, and most values lie within the first of them.
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
