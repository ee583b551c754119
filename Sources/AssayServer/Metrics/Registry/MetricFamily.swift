package import AssayCore
internal import Synchronization

/// A declared metric with its series: one for each set of labels that was recorded so far.
///
/// An existing series is found under one short lock and without an allocation.
public final class MetricFamily: Sendable {
    /// The name with its prefixes.
    public let name: String
    package let metric: Metric
    private let space: LabelSpace
    private let budget: SeriesBudget
    private let backend: MetricsBackend?
    /// The series with label values that were added at run time.
    private let open: SeriesBudget
    private let series = Mutex<[Int: MetricSeries]>([:])

    init(
        _ metric: Metric, name: String, budget: SeriesBudget, backend: MetricsBackend?
    ) throws(MetricError) {
        self.metric = metric
        self.name = name
        self.space = try LabelSpace(metric)
        self.budget = budget
        self.backend = backend
        self.open = SeriesBudget(MetricFamily.openLimit)
    }

    /// Where there is one series only, it shows at 0 before anything happens.
    func start() {
        if metric.labels.isEmpty { _ = series([]) }
    }

    /// Shows a counter at 0 for every set of declared values, if there are few of them: the first event is then an increase
    /// that a rate shows, and a name that is misspelled in an alert is noticed.
    package func showAll() {
        guard metric.kind == .counter, metric.labels.allSatisfy({ $0.openValues == 0 }) else { return }
        var sets: [[String]] = [[]]
        for label in metric.labels {
            guard sets.count * label.values.count <= MetricFamily.shownLimit else { return }
            sets = sets.flatMap { set in label.values.map { set + [$0] } }
        }
        for set in sets { _ = series(set) }
    }

    /// Sets a gauge to 1 for one set of values, and removes all others: for a fact that is in the labels.
    package func setOnly(_ values: [String]) {
        let past = series.withLock { series in
            defer { series = [:] }
            return series.values
        }
        // A backend may keep what it was given.
        for series in past {
            series.set(0)
            budget.giveBack()
        }
        space.forgetFoundValues()
        series(values)?.set(1)
    }

    private static let shownLimit = 128

    /// The series for values of the labels, in the order of their declaration; made when it is new.
    ///
    /// - Returns: nil when the number of values differs from that of the labels, and when the registry is full.
    public func series(_ values: [String]) -> MetricSeries? {
        guard values.count == space.labelCount else { return nil }
        var packed = 0
        for (position, value) in values.enumerated() { packed += space.offset(position, value) }
        return series(packed)
    }

    /// The same for a metric with open labels: the series of `fallback` when the budget of such series is exhausted.
    ///
    /// So a metric with thousands of apps does not exhaust the registry, and still counts each event in one series.
    func series(_ values: [String], orElse fallback: @autoclosure () -> [String]) -> MetricSeries? {
        guard values.count == space.labelCount else { return nil }
        var packed = 0
        for (position, value) in values.enumerated() { packed += space.offset(position, value) }
        let known = series.withLock { series -> MetricSeries? in
            if let known = series[packed] { return known }
            guard open.take(), budget.take() else { return nil }
            let fresh = fresh(packed)
            series[packed] = fresh
            return fresh
        }
        return known ?? series(fallback())
    }

    private static let openLimit = 8192

    /// The same for two labels, without an array.
    func series(_ first: String, _ second: String) -> MetricSeries? {
        guard space.labelCount == 2 else { return nil }
        return series(space.offset(0, first) + space.offset(1, second))
    }

    private func series(_ packed: Int) -> MetricSeries? {
        series.withLock { series in
            if let known = series[packed] { return known }
            guard budget.take() else { return nil }
            let fresh = fresh(packed)
            series[packed] = fresh
            return fresh
        }
    }

    private func fresh(_ packed: Int) -> MetricSeries {
        MetricSeries(metric.kind, backend: backend?.series(metric.kind, name, space.labels(of: packed)))
    }

    /// All series in the order of their labels.
    var readings: [(labels: [(name: String, value: String)], reading: MetricSeries.Reading)] {
        let known = series.withLock { $0 }
        return known.sorted { $0.key < $1.key }.map { (space.labels(of: $0.key), $0.value.reading) }
    }
}

/// How many more series are allowed, all metrics together.
final class SeriesBudget: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) {
        left = Atomic(count)
    }

    /// Makes room for one series.
    func giveBack() { left.wrappingAdd(1, ordering: .relaxed) }

    /// Takes one series if there is room, and returns whether there was.
    func take() -> Bool {
        if left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0 { return true }
        left.wrappingAdd(1, ordering: .relaxed)
        return false
    }
}
