internal import AssayCore
public import AssayKit

/// Counts the maintenance of providers and consumers: the outcomes of its runs, and their events.
public struct MaintenanceMetrics: Sendable {
    private let runs: MetricFamily
    private let durations: MetricFamily
    private let events: MetricFamily

    /// Declares the metrics in a registry.
    ///
    /// - `plugins`: the names of all providers and consumers; others count as `other`.
    public init(plugins: [String], in registry: MetricRegistry) throws(MetricError) {
        let plugins = Metric.Label("plugin", plugins)
        runs = try registry.declare(
            .counter(
                "upkeep_runs_total", "Runs of the maintenance of a plugin for one app or project, by their outcomes.",
                labels: [plugins, .init("outcome", MaintenanceMetrics.outcomes)]))
        durations = try registry.declare(
            .histogram(
                "upkeep_duration_seconds", "How long runs of maintenance took.", labels: [plugins],
                buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60, 300]))
        events = try registry.declare(
            .counter(
                "upkeep_events_total", "Events in runs of maintenance, such as exchanged receipts, by their codes.",
                labels: [plugins, .open("event", atMost: 256)]))
    }

    private static let outcomes = ["succeeded", "failed", "timed_out"]

    /// Counts a run; use it as `MaintenanceOptions.onRun`.
    public func record(_ record: MaintenanceRecord) {
        let outcome =
            switch record.outcome {
            case .succeeded: "succeeded"
            case .failed: "failed"
            case .timedOut: "timed_out"
            }
        runs.series(record.plugin, outcome)?.add()
        durations.series([record.plugin])?.observe(max(record.duration, .zero) / .seconds(1))
        for (event, count) in record.counts { events.series(record.plugin, event.code)?.add(Double(count)) }
    }
}
