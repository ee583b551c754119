internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// Policies that are tested: read and checked as far as that needs neither secrets nor instances of plugins.
struct TestedPolicies: Sendable {
    let policies: PolicySet
    let registry: Registry
    /// The apps under each of their names: the subjects of their tokens, too.
    let apps: [ExactText: AppPolicy]
    /// The rules of each app for each of its providers, by the names of the resources.
    let rules: [ExactText: [ExactText: RuleSet]]
    let callers: [ExactText: Caller]
    /// The projects under both names.
    let projects: [ExactText: ProjectIdentity]

    /// - Throws: what is wrong with the policies.
    init(_ set: PolicySet, registry: Registry) throws(Diagnostics) {
        let policies = set.reading(
            registry.platforms,
            providers: registry.unavailable.isEmpty ? Array(registry.providers.keys.map(\.string)) : nil)
        let sink = DiagnosticSink()
        if let problems = policies.problems { sink.report(problems) }
        callers = Self.callers(policies, registry, sink)
        policies.lint(registry, refusesDevelopment: false, problems: sink, warnings: DiagnosticSink())
        Self.checkSections(policies, registry, sink)
        rules = policies.apps.reduce(into: [:]) { rules, app in
            rules[app.identity.resource] = BoundPolicies.rules(of: app, registry: registry, problems: sink)
        }
        try sink.throwIfAny()
        self.policies = policies
        self.registry = registry
        apps = policies.apps.reduce(into: [:]) { apps, app in
            for name in [app.identity.subject, app.identity.resource, app.alias].compactMap(\.self) { apps[name] = app }
        }
        projects = policies.projects.reduce(into: [:]) { projects, project in
            projects["projects/\(project.identity.number)"] = project.identity
            projects["projects/\(project.identity.id)"] = project.identity
        }
    }

    private static func callers(
        _ policies: PolicySet, _ registry: Registry, _ sink: DiagnosticSink
    ) -> [ExactText: Caller] {
        var callers: [ExactText: Caller] = [:]
        for policy in policies.callers {
            do throws(Diagnostics) {
                let configuration = try policy.section.decode(CallerConfiguration.self)
                var problems = ConfigurationProblems()
                callers[policy.name] = Callers.caller(
                    policy.name, configuration, known: registry.permissions,
                    projects: policies.knowsAllProjects ? policies.projects : nil, problems: &problems)
                do throws(ConfigurationError) {
                    try problems.throwIfAny()
                } catch {
                    throw policy.section.diagnostics(for: error)
                }
            } catch {
                sink.report(error)
            }
        }
        return callers
    }

    /// Reads the sections of plugins for their errors.
    private static func checkSections(_ policies: PolicySet, _ registry: Registry, _ sink: DiagnosticSink) {
        for app in policies.apps {
            for provider in app.providers where !sink.isOverfull {
                do throws(Diagnostics) {
                    guard let plugin = registry.providers[provider.name] else {
                        throw registry.missing(.provider, provider.name, in: provider.section)
                    }
                    try plugin.check(provider.section)
                } catch {
                    sink.report(error)
                }
            }
        }
        for consumer in policies.projects.flatMap(\.consumers) where !sink.isOverfull {
            do throws(Diagnostics) {
                guard let plugin = registry.consumers[consumer.name] else {
                    throw registry.missing(.consumer, consumer.name, in: consumer.section)
                }
                try plugin.check(consumer.section)
            } catch {
                sink.report(error)
            }
        }
    }

    /// What a test about evidence for an app of a provider needs; nil for a provider that this program does not have.
    func subject(_ app: AppPolicy, _ provider: ProviderPolicy) -> Subject? {
        guard let plugin = registry.providers[provider.name] else { return nil }
        let rules =
            self.rules[app.identity.resource]?[ExactText(provider.name)]
            ?? RuleSet(
                [], for: provider.name, facts: [:], providers: [], isWhole: true, problems: DiagnosticSink())
        return Subject(app: app, provider: provider, descriptor: plugin.descriptor, rules: rules)
    }

    /// The project of a resource's name; nil for an unknown one.
    func project(of resource: String) -> ProjectIdentity? {
        projects[resource] ?? apps[resource]?.identity.project
    }

    /// The kind of a resource by its name; nil for an unknown one.
    func kind(of resource: String) -> ResourceKind? {
        projects[resource] == nil ? apps[resource]?.identity.kind : .project
    }
}
