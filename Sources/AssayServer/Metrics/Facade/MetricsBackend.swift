internal import AssayCore
public import CoreMetrics

extension MetricRegistry {
    /// A registry whose numbers also go to a backend of swift-metrics, such as the one that a program has bootstrapped.
    ///
    /// Names and labels are those of the page, so the cardinality of labels is bounded there as well. Counters become
    /// floating-point counters, gauges become meters, and histograms become recorders that aggregate. A histogram whose name
    /// ends in `_seconds` becomes a timer: the façade counts its durations in nanoseconds, and the backend shows them in
    /// its own unit. Buckets are the backend's. Values that are read for a page reach the backend by ``refresh()``.
    ///
    /// - Parameters:
    ///   - namespace: the first word of every name; empty for none.
    ///   - maximumSeries: how many series there may be, all metrics together.
    ///   - factory: the backend; it must not be one that records in this registry.
    public convenience init(
        namespace: String = "assay", maximumSeries: Int = 20_000, forwardingTo factory: any MetricsFactory
    ) {
        self.init(namespace: namespace, maximumSeries: maximumSeries, backend: MetricsBackend(factory: factory))
    }

    /// The registry of a program that takes part in swift-metrics.
    ///
    /// Where the program has bootstrapped no backend, it is bootstrapped with ``LibraryMetrics`` of the new registry: the page
    /// shows what libraries record. Otherwise the registry forwards to the backend that the program has bootstrapped.
    public static func bootstrapped(namespace: String = "assay") -> MetricRegistry {
        let factory = MetricsSystem.factory
        // A second server in the process has a page of its own, and what libraries record stays with the first.
        if factory is LibraryMetrics { return MetricRegistry(namespace: namespace) }
        guard factory is NOOPMetricsHandler else { return MetricRegistry(namespace: namespace, forwardingTo: factory) }
        let registry = MetricRegistry(namespace: namespace)
        MetricsSystem.bootstrap(LibraryMetrics(in: registry))
        return registry
    }
}

/// Where the numbers of a registry go besides its page.
struct MetricsBackend: Sendable {
    let factory: any MetricsFactory

    func series(_ kind: Metric.Kind, _ name: String, _ labels: [(name: String, value: String)]) -> BackendSeries {
        let dimensions = labels.map { ($0.name, $0.value) }
        switch kind {
        case .counter:
            return .counter(factory.makeFloatingPointCounter(label: name, dimensions: dimensions))
        case .gauge:
            return .gauge(factory.makeMeter(label: name, dimensions: dimensions))
        case .histogram where name.ends(withExactly: "_seconds"):
            let timer = factory.makeTimer(label: name, dimensions: dimensions)
            timer.preferDisplayUnit(.seconds)
            return .durations(timer)
        case .histogram:
            return .values(factory.makeRecorder(label: name, dimensions: dimensions, aggregate: true))
        }
    }
}

/// One series in a backend of swift-metrics.
enum BackendSeries: Sendable {
    case counter(any FloatingPointCounterHandler)
    case gauge(any MeterHandler)
    case durations(any TimerHandler)
    case values(any RecorderHandler)

    func add(_ amount: Double) {
        switch self {
        case .counter(let counter): if amount > 0 { counter.increment(by: amount) }
        case .gauge(let meter) where amount < 0: meter.decrement(by: -amount)
        case .gauge(let meter): meter.increment(by: amount)
        case .durations, .values: break
        }
    }

    func set(_ value: Double) {
        if case .gauge(let meter) = self { meter.set(value) }
    }

    func observe(_ value: Double) {
        switch self {
        case .durations(let timer):
            timer.recordNanoseconds(Int64(exactly: (value * 1e9).rounded()) ?? (value < 0 ? .min : .max))
        case .values(let recorder): recorder.record(value)
        case .counter, .gauge: break
        }
    }
}
