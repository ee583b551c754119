/// Receives measurements: the kernel, transports, stores and plugins record here.
///
/// A plugin declares its metrics in its `PluginDescriptor`, keeps them as constants, and records to its host's meter:
///
///     static let lookups = Metric.counter(
///         "lookups_total", "Questions to the upstream.", labels: [.init("result", ["found", "missing"])])
///
///     host.meter.add(to: Self.lookups, "found")
///
/// The page shows it as `assay_PLUGIN_lookups_total{result="found"}`. Recording never fails and never waits: values
/// that do not match the declaration are dropped. `MetricRegistry` in `AssayServer` is the meter behind `/metrics`, and
/// forwards to a backend of swift-metrics where an embedder has one.
public struct Meter: Sendable {
    /// A change of a number.
    public enum Change: Sendable, Hashable {
        /// Adds to a counter or a gauge.
        case add(Double)
        /// Sets a gauge.
        case set(Double)
        /// Puts a value into a histogram.
        case observe(Double)
    }

    private let scope: String
    private let recording: @Sendable (_ scope: String, Metric, Change, _ labels: [String]) -> Void

    /// - Parameter record: receives the prefix of the plugin (`app_attest_`, empty for the program's own metrics), the
    ///   metric, the change, and the values of its labels in the order of their declaration. It must not block.
    public init(_ record: @escaping @Sendable (_ scope: String, Metric, Change, _ labels: [String]) -> Void) {
        self.init(scope: "", record)
    }

    private init(scope: String, _ record: @escaping @Sendable (String, Metric, Change, [String]) -> Void) {
        self.scope = scope
        self.recording = record
    }

    /// Records nothing.
    public static let none = Meter { _, _, _, _ in }

    /// The same meter for one plugin, whose metrics get its name as their prefix.
    public func scoped(to plugin: String) -> Meter {
        Meter(scope: "\(scope)\(plugin)_", recording)
    }

    /// The meter of the program itself, for what modules count that several plugins share.
    package var unscoped: Meter { Meter(scope: "", recording) }

    /// Adds to a counter or a gauge.
    public func add(_ amount: Double = 1, to metric: Metric, _ labels: String...) {
        recording(scope, metric, .add(amount), labels)
    }

    /// Sets a gauge.
    public func set(_ value: Double, of metric: Metric, _ labels: String...) {
        recording(scope, metric, .set(value), labels)
    }

    /// Puts a value into a histogram.
    public func observe(_ value: Double, in metric: Metric, _ labels: String...) {
        recording(scope, metric, .observe(value), labels)
    }

    /// Puts a duration, in seconds, into a histogram.
    public func observe(_ duration: Duration, in metric: Metric, _ labels: String...) {
        recording(scope, metric, .observe(duration / .seconds(1)), labels)
    }
}
