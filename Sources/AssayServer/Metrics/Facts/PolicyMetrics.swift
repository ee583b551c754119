public import AssayCore

/// Facts about the policies in force.
///
/// The loader of the policies reports them here.
public struct PolicyMetrics: Sendable {
    private let meter: Meter

    private static let apps = Metric.gauge("policy_apps", "Apps of the policies in force.")
    private static let clients = Metric.gauge("policy_oauth_clients", "OAuth clients of the policies in force.")
    private static let loaded = Metric.gauge(
        "policy_last_load_success_timestamp_seconds", "When the policies in force were loaded, in Unix time.")
    private static let succeeded = Metric.gauge(
        "policy_last_reload_successful", "Whether the last attempt to load policies succeeded: 1 or 0.")

    /// Which policies are in force; a server records it through its registry.
    package static let info = Metric.gauge(
        "policy_info", "The policies in force: their revision, and the label that they have for it.",
        labels: [.open("revision", atMost: 4), .open("label", [""], atMost: 4)])

    /// All metrics that it records.
    package static let all = [apps, clients, loaded, succeeded, info]

    /// Metrics that record to a meter; nothing is recorded before policies are loaded.
    public init(_ meter: Meter) {
        self.meter = meter
    }

    /// Policies were loaded, and are in force from now on.
    public func loaded(apps: Int, oauthClients: Int, at now: Instant) {
        meter.set(Double(apps), of: PolicyMetrics.apps)
        meter.set(Double(oauthClients), of: PolicyMetrics.clients)
        meter.set(Double(now.milliseconds) / 1000, of: PolicyMetrics.loaded)
        meter.set(1, of: PolicyMetrics.succeeded)
    }

    /// The files have good policies again: other ones, which ``loaded(apps:oauthClients:at:)`` reported, or those in force.
    public func reloadSucceeded() {
        meter.set(1, of: PolicyMetrics.succeeded)
    }

    /// Policies could not be loaded; those before them stay in force.
    public func reloadFailed() {
        meter.set(0, of: PolicyMetrics.succeeded)
    }
}
