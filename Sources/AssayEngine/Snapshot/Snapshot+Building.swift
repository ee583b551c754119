public import AssayKit
public import AssayPolicy
public import AssayYAML

extension BoundPolicies {
    /// Makes an instance of each provider for each app of a policy set.
    ///
    /// - Parameters:
    ///   - present: the policies in whose place these are put: limits that are unchanged go on counting.
    ///   - refusesDevelopment: as with ``Engine/Options/refusesDevelopment``.
    /// - Throws: everything that is wrong: what the loader found, and what is wrong in the sections of plugins and in
    ///   those that the kernel decodes itself.
    init(
        _ policies: PolicySet, registry: Registry, host: PluginHost, following present: BoundPolicies?,
        refusesDevelopment: Bool = false
    ) throws(Diagnostics) {
        let sink = DiagnosticSink()
        if let problems = policies.problems { sink.report(problems) }
        let callers = Callers(
            policies, permissions: registry.permissions, host: host, problems: sink)
        self.init(
            callers: callers, tokens: policies.tokens, descriptors: registry.providers.mapValues(\.descriptor))
        let warnings = DiagnosticSink()
        if let found = policies.warnings { warnings.report(found) }
        policies.survey(registry, refusesDevelopment: refusesDevelopment, problems: sink, warnings: warnings)
        apps = BoundPolicies.apps(
            policies, registry: registry, host: host, following: present, problems: sink,
            warnings: warnings)
        var subjects: [ExactText: [ExactText: AppEntry]] = [:]
        for app in apps.values { subjects[app.identity.project.number, default: [:]][app.identity.subject] = app }
        for policy in policies.projects {
            let entry = ProjectEntry(policy, apps: subjects[policy.identity.number] ?? [:], since: host.clock.now)
            projects["projects/\(policy.identity.number)"] = entry
            projects["projects/\(policy.identity.id)"] = entry
            projectsByIssuer[entry.issuer] = entry
        }
        consumers = ConsumerEntries(policies, registry: registry, projects: projects, host: host, problems: sink)
        try sink.throwIfAny()
        maintenance = MaintenanceList(apps)
        self.warnings = warnings.diagnostics
    }

    /// The apps of a policy set under their names.
    private static func apps(
        _ policies: PolicySet, registry: Registry, host: PluginHost, following present: BoundPolicies?,
        problems sink: DiagnosticSink, warnings: DiagnosticSink
    ) -> [ExactText: AppEntry] {
        // A section that an OAuth client shares with its app is read twice, and so is what is wrong in it.
        var seen: Set<Diagnostic> = []
        var apps: [ExactText: AppEntry] = [:]
        apps.reserveCapacity(2 * policies.apps.count)
        for policy in policies.apps where !sink.isOverfull {
            var methods: [ExactText: MethodEntry] = [:]
            var providers: [ExactText: ConfiguredProvider] = [:]
            for provider in policy.providers {
                do throws(Diagnostics) {
                    guard policy.isSound else {
                        try check(provider, registry: registry)
                        continue
                    }
                    let (entries, config, questionable) = try entries(
                        provider, for: policy.identity, registry: registry, host: host)
                    for warning in questionable where seen.insert(warning).inserted { warnings.report(warning) }
                    for entry in entries { methods[entry.method.descriptor.name] = entry }
                    providers[provider.name] = ConfiguredProvider(
                        tokenLifetime: provider.tokenLifetime, fields: config, location: provider.section.location)
                } catch {
                    for problem in error.all where seen.insert(problem).inserted { sink.report(problem) }
                }
            }
            let known = present?.apps[policy.identity.resource]?.bucket
            let bucket = policy.rateLimit.flatMap { known?.limit == $0 ? known : TokenBucket($0) }
            let entry = AppEntry(
                identity: policy.identity,
                claims: TokenClaims(issuerPrefix: policy.issuerPrefix, app: policy.identity), methods: methods,
                providers: providers, bucket: bucket, location: policy.location)
            apps[policy.identity.resource] = entry
            if let alias = policy.alias { apps[alias] = entry }
        }
        return apps
    }

    /// Looks at a section by itself: what an instance would say of an app that is wrong helps nobody.
    private static func check(_ policy: ProviderPolicy, registry: Registry) throws(Diagnostics) {
        try plugin(of: policy, registry).check(policy.section)
    }

    private static func plugin(
        of policy: ProviderPolicy, _ registry: Registry
    ) throws(Diagnostics) -> RegisteredProvider {
        guard let plugin = registry.providers[policy.name] else {
            throw policy.section.unknownProvider(known: registry.providers.keys.map(\.string))
        }
        return plugin
    }

    private static func entries(
        _ policy: ProviderPolicy, for app: AppIdentity, registry: Registry, host: PluginHost
    ) throws(Diagnostics) -> (entries: [MethodEntry], config: [ReplyField], warnings: [Diagnostic]) {
        let plugin = try plugin(of: policy, registry)
        let bound = try plugin.instantiate(policy.section, app, host)
        let provider = ProviderEntry(
            descriptor: plugin.descriptor, tokenLifetime: policy.tokenLifetime,
            purpose: SealedPurpose(resource: app.resource, provider: policy.name),
            space: "\(policy.name)/\(app.resource)",
            appSpace: "\(policy.name)/\(app.linkedApp ?? app.resource)", maintenance: bound.maintenance)
        return (
            bound.methods.map { MethodEntry(method: $0, provider: provider) }, bound.config,
            policy.section.diagnostics(for: bound.warnings)
        )
    }
}

extension PolicySet {
    /// Checks policies against the plugins that are registered, without keys and without state.
    ///
    /// - Parameter refusesDevelopment: as with ``Engine/Options/refusesDevelopment``.
    /// - Throws: ``problems`` and everything that plugins find wrong in their sections, together.
    /// - Returns: what is questionable, ``warnings`` and what plugins find so in their sections; nil when nothing is.
    @discardableResult
    public func check(
        _ registry: Registry, host: PluginHost, refusesDevelopment: Bool = false
    ) throws(Diagnostics) -> Diagnostics? {
        try BoundPolicies(
            self, registry: registry, host: host, following: nil, refusesDevelopment: refusesDevelopment
        ).warnings
    }
}
