internal import AssayCore
public import AssayHosting
internal import AssayKit

/// Counts the maintenance of providers: the outcomes of its runs, and their events.
public struct MaintenanceMetrics: Sendable {
    private let runs: MetricFamily
    private let durations: MetricFamily
    private let events: MetricFamily

    /// Declares the metrics in a registry.
    ///
    /// - `providers`: the names of all providers; others count as `other`.
    public init(providers: [String], in registry: MetricRegistry) throws(MetricError) {
        let providers = Metric.Label("provider", providers)
        runs = try registry.declare(
            .counter(
                "upkeep_runs_total", "Runs of the maintenance of one app's provider, by their outcomes.",
                labels: [providers, .init("outcome", MaintenanceMetrics.outcomes)]))
        durations = try registry.declare(
            .histogram(
                "upkeep_duration_seconds", "How long runs of maintenance took.", labels: [providers],
                buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60, 300]))
        events = try registry.declare(
            .counter(
                "upkeep_events_total", "Events in runs of maintenance, such as exchanged receipts, by their codes.",
                labels: [providers, .open("event", atMost: 256)]))
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
        runs.series(record.provider, outcome)?.add()
        durations.series([record.provider])?.observe(max(record.duration, .zero) / .seconds(1))
        for (event, count) in record.counts { events.series(record.provider, event.code)?.add(Double(count)) }
    }
}
