internal import AssayCore

/// The metrics of what the kernel keeps plugins from.
enum GuardMetrics {
    private static let plugin = Metric.Label.open("plugin", atMost: 64)

    static let exceeded = Metric.counter(
        "plugin_limits_exceeded_total", "How often calls of a plugin went beyond one of its limits.",
        labels: [plugin, .init("limit", PluginLimitExceeded.Limit.allCases.map(\.rawValue))])
    static let faults = Metric.counter(
        "plugin_faults_total", "How often a plugin broke its contract, so that its decision did not count.",
        labels: [plugin])
    static let abandoned = Metric.gauge(
        "plugin_abandoned_calls", "Calls of a plugin that were answered at their time limit and still run.",
        labels: [plugin])
    static let resting = Metric.gauge(
        "plugin_resting_instances", "Instances of a plugin that kept failing, and are not called for a while.",
        labels: [plugin])

    static let all = [exceeded, faults, abandoned, resting]
}
