internal import AssayCore
internal import AssayEngine
internal import AssayHTTP
internal import AssayKit
internal import AssayMetrics
internal import AssayPolicy

/// What the server counts, and the page that shows it.
struct ServerMetrics: Sendable {
    let registry: MetricRegistry
    let policies: PolicyMetrics
    let decisions: DecisionMetrics
    let maintenance: MaintenanceMetrics

    init(_ plugins: Registry, in registry: MetricRegistry = MetricRegistry()) throws {
        self.registry = registry
        try BuildMetrics.add(to: registry)
        try ProcessMetrics.add(to: registry)
        policies = PolicyMetrics(registry.meter)
        decisions = try DecisionMetrics(
            methods: plugins.methods.filter { $0.kind != .keySet }.map { method in
                DecisionMetrics.Method(method.name, provider: plugins.provider(of: method.name))
            }, providers: plugins.providerNames, reasons: plugins.reasons, in: registry)
        maintenance = try MaintenanceMetrics(
            plugins: (plugins.descriptors + plugins.consumerDescriptors).map(\.name), in: registry)
    }

    /// Policies were loaded, and are in force from now on.
    func loaded(_ set: PolicySet, at now: Instant) {
        let counts = set.counts
        policies.loaded(apps: counts.apps, oauthClients: counts.oauthClients, at: now)
    }

    var meter: Meter { registry.meter }

    func page(_ accept: String) -> HTTPPage {
        let format = ExpositionFormat(accept: accept)
        return HTTPPage(contentType: format.contentType, body: registry.page(format))
    }
}
