package import AssayCore
package import AssayEngine
internal import AssayHTTP
internal import AssayHTTPServer
internal import AssayKit
internal import AssayPolicy
internal import AssayServices

#if ExtAuthz
internal import AssayExtAuthz
#endif

/// What the server counts, and the page that shows it.
package struct ServerMetrics: Sendable {
    package let registry: MetricRegistry
    let policies: PolicyMetrics
    let decisions: DecisionMetrics
    let maintenance: MaintenanceMetrics
    private let info: MetricFamily

    /// The metrics of the server itself, beside those that are declared where they are recorded.
    package static let own = Registry.kernelMetrics + beside

    #if ExtAuthz
    private static let authorization = ExtAuthzReference.metrics
    #else
    private static let authorization: [Metric] = []
    #endif

    /// Those that are not the kernel's.
    package static let beside =
        RecordMetrics.all + PolicyMetrics.all + HTTPReference.metrics + ConnectionMetrics.all + authorization
        + [ReloadMetrics.succeeded, ReadinessService.metric, LibraryMetrics.refused]
        + CertificateWatch.metrics + KeyMetrics.all

    package init(_ plugins: Registry, in registry: MetricRegistry = MetricRegistry()) throws {
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
        info = try registry.declare(PolicyMetrics.info)
        // Counters are there from the beginning; gauges when they are set, since 0 would be a value.
        for metric in Self.own where metric.kind == .counter { try registry.declare(metric).showAll() }
        for (metric, scope) in Self.metrics(of: plugins) where metric.kind == .counter {
            try registry.declare(metric, scope: scope).showAll()
        }
    }

    /// The metrics of plugins, with the scope of each.
    private static func metrics(of plugins: Registry) -> [(Metric, scope: String)] {
        (plugins.descriptors + plugins.consumerDescriptors).flatMap { descriptor in
            descriptor.metrics.map { ($0, "\(descriptor.name)_") }
        }
    }

    /// Policies were loaded, and are in force from now on.
    func loaded(_ set: PolicySet, at now: Instant) {
        let counts = set.counts
        policies.loaded(apps: counts.apps, oauthClients: counts.oauthClients, at: now)
        info.setOnly([set.revision.hash, set.revision.label ?? ""])
    }

    var meter: Meter { registry.meter }

    func page(_ accept: String) -> HTTPPage {
        let format = ExpositionFormat(accept: accept)
        return HTTPPage(contentType: format.contentType, body: registry.page(format))
    }
}
