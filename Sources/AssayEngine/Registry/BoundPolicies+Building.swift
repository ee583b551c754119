package import AssayCore
public import AssayKit
public import AssayPolicy
public import AssayYAML

extension BoundPolicies {
    /// Makes an instance of each provider for each app of a policy set.
    ///
    /// - Parameters:
    ///   - present: the policies to be replaced: unchanged limits keep their counts.
    ///   - refusesDevelopment: as with ``Engine/Options/refusesDevelopment``.
    /// - Throws: all errors: those that the loader found, and those in the sections of plugins and of the kernel.
    package init(
        _ policies: PolicySet, registry: Registry, host: PluginHost, following present: BoundPolicies?,
        refusesDevelopment: Bool = false
    ) throws(Diagnostics) {
        let policies = registry.effective(policies)
        var host = host
        host.secrets = host.secrets.relative(to: policies.folder)
        let sink = DiagnosticSink()
        if let problems = policies.problems { sink.report(problems) }
        let callers = Callers(policies, permissions: registry.permissions, host: host, problems: sink)
        let denials = DenyList(
            policies.denials, facts: registry.providers.mapValues(\.descriptor.facts),
            isWhole: registry.unavailable.isEmpty, problems: sink)
        self.init(
            callers: callers, tokens: policies.tokens, revision: policies.revision, denials: denials,
            descriptors: registry.providers.mapValues(\.descriptor))
        let warnings = DiagnosticSink()
        if let found = policies.warnings { warnings.report(found) }
        for denial in policies.denials { denial.reportEnd(before: host.clock.now, to: warnings) }
        policies.reportUnreachableDenials(registry, at: host.clock.now, problems: sink, warnings: warnings)
        policies.lint(registry, refusesDevelopment: refusesDevelopment, problems: sink, warnings: warnings)
        do throws(Diagnostics) {
            capture = try CaptureTarget(policies.capture, host.secrets)
        } catch {
            sink.report(error)
        }
        apps = BoundPolicies.apps(
            policies, registry: registry, host: host, following: present, problems: sink, warnings: warnings)
        var subjects: [ExactText: [ExactText: AppBinding]] = [:]
        for app in apps.values { subjects[app.identity.project.number, default: [:]][app.identity.subject] = app }
        for policy in policies.projects {
            let entry = ProjectBinding(policy, apps: subjects[policy.identity.number] ?? [:], since: host.clock.now)
            projects["projects/\(policy.identity.number)"] = entry
            projects["projects/\(policy.identity.id)"] = entry
            projectsByIssuer[entry.issuer] = entry
        }
        consumers = ConsumerBindings(
            policies, registry: registry, projects: projects, host: host, problems: sink, warnings: warnings)
        try sink.throwIfAny()
        maintenance = MaintenanceList(apps, consumers)
        self.warnings = warnings.diagnostics
    }

    /// The apps of a policy set, by their names.
    private static func apps(
        _ policies: PolicySet, registry: Registry, host: PluginHost, following present: BoundPolicies?,
        problems sink: DiagnosticSink, warnings: DiagnosticSink
    ) -> [ExactText: AppBinding] {
        var apps: [ExactText: AppBinding] = [:]
        apps.reserveCapacity(2 * policies.apps.count)
        for policy in policies.apps where !sink.isOverfull {
            var providers: [ExactText: ProviderBinding] = [:]
            var methods: [ExactText: MethodBinding] = [:]
            var shadows: [ExactText: MethodBinding] = [:]
            for provider in policy.providers {
                do throws(Diagnostics) {
                    guard let plugin = registry.providers[provider.name] else {
                        throw registry.missing(.provider, provider.name, in: provider.section)
                    }
                    // If the app itself is wrong, only the section is checked: an instance would report errors that
                    // follow from the first.
                    guard policy.isSound else {
                        try plugin.check(provider.section)
                        continue
                    }
                    let bound = try plugin.bind(provider, policy.identity, host)
                    for warning in bound.warnings { warnings.report(warning) }
                    for method in bound.methods { methods[method.descriptor.name] = method }
                    providers[provider.name] = bound.provider
                    // Other errors than those of the shadow settings were reported by now.
                    if let shadow = provider.shadow {
                        let bound = try plugin.bind(shadow, policy.identity, host.shadow)
                        for method in bound.methods { shadows[method.descriptor.name] = method }
                    }
                } catch {
                    sink.report(error)
                }
            }
            let rules = rules(of: policy, registry: registry, problems: sink)
            RuleSet.reportUnreachable(Array(rules.values), to: warnings)
            let known = present?.apps[policy.identity.resource]?.bucket
            let bucket = policy.rateLimit.flatMap { known?.limit == $0 ? known : TokenBucket($0) }
            let app = AppBinding(
                policy, providers: providers, methods: methods, bucket: bucket,
                capture: policy.capture ?? policies.capture?.decisions ?? .none, rules: rules, shadows: shadows)
            apps[policy.identity.resource] = app
            if let alias = policy.alias { apps[alias] = app }
        }
        return apps
    }
}

extension BoundPolicies {
    /// The rules of an app, read by the types of the facts of its providers.
    package static func rules(
        of policy: AppPolicy, registry: Registry, problems sink: DiagnosticSink
    ) -> [ExactText: RuleSet] {
        guard !policy.rules.isEmpty else { return [:] }
        let known = policy.providers.filter { registry.providers[$0.name] != nil }
        let facts = Dictionary(
            known.compactMap { provider in
                registry.providers[provider.name].map { (ExactText(provider.name), $0.descriptor.facts) }
            }, uniquingKeysWith: { first, _ in first })
        if known.isEmpty {
            // They are read for their errors.
            _ = RuleSet(
                policy.rules, for: "", facts: facts, providers: registry.providers.keys.map(\.string).sortedExactly(),
                isWhole: false, problems: sink)
        }
        return known.reduce(into: [:]) { rules, provider in
            rules[ExactText(provider.name)] = RuleSet(
                policy.rules, for: provider.name, facts: facts,
                providers: registry.providers.keys.map(\.string).sortedExactly(),
                isWhole: known.count == policy.providers.count, problems: sink)
        }
    }
}

extension PolicySet {
    /// Reports entries of the deny list that no evidence can fulfil; those that have ended are warned of already.
    fileprivate func reportUnreachableDenials(
        _ registry: Registry, at now: Instant, problems sink: DiagnosticSink, warnings: DiagnosticSink
    ) {
        // The facts of plugins that cannot be asked now are not known.
        guard !denials.isEmpty, registry.unavailable.isEmpty else { return }
        let scope = DenyScope(
            facts: registry.providers.mapValues(\.descriptor.facts),
            apps: apps.filter(\.isSound).map { app in
                (ExactText(app.identity.subject), app.providers.map { ExactText($0.name) })
            })
        for denial in denials where denial.until.map({ now < $0 }) ?? true {
            scope.report(denial, to: sink, warnings: warnings)
        }
    }

    /// Checks policies against the registered plugins, without keys and without state.
    ///
    /// - `refusesDevelopment`: as with ``Engine/Options/refusesDevelopment``.
    /// - Throws: `problems` and everything that plugins find wrong in their sections, together.
    /// - Returns: the warnings of the set and of plugins about their sections; nil when there are none.
    @discardableResult
    public func check(
        _ registry: Registry, host: PluginHost, refusesDevelopment: Bool = false
    ) throws(Diagnostics) -> Diagnostics? {
        try BoundPolicies(
            self, registry: registry, host: host, following: nil, refusesDevelopment: refusesDevelopment
        ).warnings
    }
}
