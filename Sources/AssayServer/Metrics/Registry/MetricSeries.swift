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
    /// The same series in a backend of swift-metrics.
    private let backend: BackendSeries?

    init(_ kind: Metric.Kind, backend: BackendSeries? = nil) {
        self.kind = kind
        self.backend = backend
        var reading = Reading()
        if case .histogram(let bounds) = kind {
            reading.buckets = Array(repeating: 0, count: bounds.count + 1)
        }
        state = Mutex(reading)
    }

    /// Adds to a counter or a gauge; a counter does not take what is negative or not a finite number.
    public func add(_ amount: Double = 1) {
        switch kind {
        case .counter where amount >= 0 && amount.isFinite, .gauge: state.withLock { $0.value += amount }
        case .counter, .histogram: return
        }
        backend?.add(amount)
    }

    /// Sets a gauge.
    public func set(_ value: Double) {
        guard kind == .gauge else { return }
        state.withLock { $0.value = value }
        backend?.set(value)
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
        backend?.observe(value)
    }

    /// Sets a counter to a value that is counted elsewhere, such as the processor time.
    public func mirror(_ value: Double) {
        let growth = state.withLock { reading in
            let growth = max(0, value - reading.value)
            reading.value += growth
            return growth
        }
        backend?.add(growth)
    }

    /// Lets a counter begin again at 0, as it does when a process starts.
    func reset() {
        guard kind == .counter else { return }
        state.withLock { $0.value = 0 }
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
