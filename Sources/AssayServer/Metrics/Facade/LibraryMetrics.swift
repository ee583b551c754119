package import AssayCore
public import CoreMetrics
internal import Synchronization

/// Shows on the page of a registry what libraries record through swift-metrics.
///
/// A program bootstraps `MetricsSystem` with it once. A counter and a floating-point counter are one kind of metric. A
/// recorder that does not aggregate and a meter are gauges, another recorder is a histogram, and a timer is a histogram of
/// seconds.
///
/// Names become lower-case words joined by underscores. `_total` is appended to counters and `_seconds` to timers. A name that
/// begins with the registry's namespace or with `process_` gets the prefix `library_`, so that it cannot take the name of
/// a metric of ours. The first that is recorded under a name decides its kind and its labels; a label that is left
/// out later has no value.
///
/// Nothing that a library does can make the page grow without bound: there is a limit on metrics, on series, and on the values of
/// each label, beyond which a value is `other`. What is not shown is counted in `library_metrics_refused_total`. A series
/// stays when its owner destroys it, because a number that disappears tells nothing.
public final class LibraryMetrics: MetricsFactory {
    /// What may be wrong with a series; the value of a label.
    enum Refusal: String, Error, CaseIterable {
        case name, kind, labels, metrics, series
    }

    private let registry: MetricRegistry
    private let maximumMetrics: Int
    private let budget: SeriesBudget
    private let families = Mutex<[ExactText: MetricFamily]>([:])

    /// How many labels a metric may have, and values each of them.
    private static let labelLimit = 6
    private static let valueLimit = 64
    /// Values of any unit: bytes, rows, items.
    private static let buckets = [0.001, 0.01, 0.1] + (0...12).map { Double(1 << (2 * $0)) }

    /// What is not shown.
    package static let refused = Metric.counter(
        "library_metrics_refused_total",
        "Series that libraries asked for and that are not shown: the name or the labels cannot be written, the name has "
            + "another kind, or there are too many metrics or series.",
        labels: [.init("cause", Refusal.allCases.map(\.rawValue))])

    /// - Parameters:
    ///   - registry: the registry whose page shows the metrics.
    ///   - maximumMetrics: how many metrics libraries may have.
    ///   - maximumSeries: how many series libraries may have, all their metrics together.
    public init(in registry: MetricRegistry, maximumMetrics: Int = 200, maximumSeries: Int = 2000) {
        self.registry = registry
        self.maximumMetrics = maximumMetrics
        budget = SeriesBudget(maximumSeries)
    }

    /// A counter on the page.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        LibrarySeries(series(.counter, "_total", label, dimensions))
    }

    /// The same counter as ``makeCounter(label:dimensions:)``.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        LibrarySeries(series(.counter, "_total", label, dimensions))
    }

    /// A gauge on the page.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        LibrarySeries(series(.gauge, "", label, dimensions))
    }

    /// A histogram on the page, or a gauge where the last value is all that counts.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        let kind = aggregate ? Metric.Kind.histogram(buckets: LibraryMetrics.buckets) : .gauge
        return LibrarySeries(series(kind, "", label, dimensions))
    }

    /// A histogram of seconds on the page.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        LibrarySeries(series(.histogram(buckets: Metric.latencies), "_seconds", label, dimensions))
    }

    /// The series stays on the page.
    public func destroyCounter(_ handler: any CounterHandler) {}

    /// The series stays on the page.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}

    /// The series stays on the page.
    public func destroyMeter(_ handler: any MeterHandler) {}

    /// The series stays on the page.
    public func destroyRecorder(_ handler: any RecorderHandler) {}

    /// The series stays on the page.
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// Nil for a series that is not shown, which is counted.
    private func series(
        _ kind: Metric.Kind, _ ending: String, _ label: String, _ dimensions: [(String, String)]
    ) -> MetricSeries? {
        do throws(Refusal) {
            return try find(kind, ending, label, dimensions)
        } catch {
            registry.meter.add(to: LibraryMetrics.refused, error.rawValue)
            return nil
        }
    }

    private func find(
        _ kind: Metric.Kind, _ ending: String, _ label: String, _ dimensions: [(String, String)]
    ) throws(Refusal) -> MetricSeries {
        guard let name = LibraryName.metric(label, ending: ending, in: registry.prefix) else { throw .name }
        guard dimensions.count <= LibraryMetrics.labelLimit else { throw .labels }
        var names: [String] = []
        var values: [ExactText: String] = [:]
        for (dimension, value) in dimensions {
            guard let label = LibraryName.label(dimension), values[label].isNil else { throw .labels }
            names.append(label)
            values[label] = value
        }
        let family = try family(name, kind, labels: names)
        guard family.metric.kind == kind else { throw .kind }
        let ordered = family.metric.labels.map { label in values.removeValue(forKey: ExactText(label.name)) ?? "" }
        guard values.isEmpty else { throw .labels }
        guard let series = family.series(ordered) else { throw .series }
        return series
    }

    private func family(
        _ name: String, _ kind: Metric.Kind, labels: [String]
    ) throws(Refusal) -> MetricFamily {
        try families.withLock { families throws(Refusal) in
            if let known = families[name] { return known }
            guard families.count < maximumMetrics else { throw .metrics }
            let metric = Metric(
                kind, name, "Recorded by a library.",
                labels: labels.map { .open($0, [""], atMost: LibraryMetrics.valueLimit) })
            guard let family = try? registry.declare(ofLibrary: metric, budget) else { throw .name }
            families[name] = family
            return family
        }
    }
}

/// A series of a library; nothing for one that is not shown.
private final class LibrarySeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler,
    TimerHandler
{
    private let series: MetricSeries?

    init(_ series: MetricSeries?) {
        self.series = series
    }

    func increment(by amount: Int64) { series?.add(Double(amount)) }

    func increment(by amount: Double) { series?.add(amount) }

    func decrement(by amount: Double) { series?.add(-amount) }

    func reset() { series?.reset() }

    func set(_ value: Int64) { series?.set(Double(value)) }

    func set(_ value: Double) { series?.set(value) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        // A series takes what is for its kind, and ignores the other.
        series?.set(value)
        series?.observe(value)
    }

    func recordNanoseconds(_ duration: Int64) { series?.observe(Double(duration) / 1e9) }
}
