internal import AssayCore
internal import AssayKit
internal import AssayPolicy
internal import AssayVerifier
internal import AssayYAML

extension ConsumerBindings {
    /// The largest number of issuers of users in a section.
    private static let actorLimit = 16

    /// The keys that the kernel reads in the section of every consumer.
    package static var kernelKeys: [(key: String, type: any Decodable.Type)] {
        [
            (ConsumerKeys.tokens, TokenDemandConfiguration.self),
            (ConsumerKeys.actors, [TrustedIssuerConfiguration].self),
        ]
    }

    /// Makes an instance of each consumer that policies name.
    ///
    /// - Parameters:
    ///   - projects: by their canonical names.
    ///   - problems: collects the errors.
    ///   - warnings: collects the warnings of instances about their sections.
    init(
        _ policies: PolicySet, registry: Registry, projects: [ExactText: ProjectBinding], host: PluginHost,
        problems sink: DiagnosticSink, warnings: DiagnosticSink
    ) {
        var places: [ExactText: (plugin: ConsumerPlugin, owner: String, section: PolicySection)] = [:]
        for project in policies.projects {
            guard let entry = projects["projects/\(project.identity.number)"] else { continue }
            for policy in project.consumers where !sink.isOverfull {
                do throws(Diagnostics) {
                    guard let plugin = registry.consumers[policy.name] else {
                        throw registry.missing(.consumer, policy.name, in: policy.section)
                    }
                    let consumer = try ConsumerBindings.binding(plugin, policy.section, of: entry, host: host)
                    for audience in consumer.instance.audiences {
                        if let other = places[audience],
                            !plugin.sharesAudiences || !other.plugin.descriptor.name.isExactly(plugin.descriptor.name)
                        {
                            throw policy.section.diagnostics(
                                "the audience `\(audience)` is also that of \(other.owner) at \(other.section.location)"
                            )
                        }
                        places[audience] = (
                            plugin, "\(plugin.descriptor.name) in project \(project.identity.id)", policy.section
                        )
                    }
                    try checkServices(of: consumer, policy.section)
                    for warning in consumer.instance.warnings { warnings.report(warning) }
                    add(consumer)
                } catch {
                    sink.report(error)
                }
            }
        }
    }

    /// A service's levels stand in one place: a backend is none of the section `services`.
    private func checkServices(of consumer: ConsumerBinding, _ section: PolicySection) throws(Diagnostics) {
        var problems = ConfigurationProblems()
        for part in consumer.instance.demands where part.part.isNil && !part.inherits.isEmpty {
            guard let other = consumer.project.services[part.service] else { continue }
            problems.report(
                at: part.path,
                "`\(part.service)` also stands in `services` at \(other.location), and a service's levels are stated once: "
                    + "remove it there, and write `editable: true` here if administrators may change them")
        }
        try ConsumerBindings.throwIfAny(problems, in: section)
    }

    /// Where the host withholds a secret that the instance needs, there is no instance, and it answers nothing.
    private static func binding(
        _ plugin: ConsumerPlugin, _ section: PolicySection, of project: ProjectBinding, host: PluginHost
    ) throws(Diagnostics) -> ConsumerBinding {
        // The kernel's own keys and the plugin's: the errors of both are reported together.
        let sink = DiagnosticSink()
        var demand: TokenDemand?
        var actors: [ExactText: TrustedIssuer]?
        var instance: ConsumerInstance?
        do throws(Diagnostics) {
            demand = try ConsumerBindings.demand(plugin, section, stage: project.identity.stage)
        } catch {
            sink.report(error)
        }
        do throws(Diagnostics) {
            actors = try ConsumerBindings.actors(section, host: host)
        } catch {
            sink.report(error)
        }
        do throws(Diagnostics) {
            let scope = ConsumerScope(
                project: project.identity, issuer: project.issuer,
                apps: project.apps.values.map(\.identity).sorted { $0.resource.precedesExactly($1.resource) },
                // If they cannot be read, only that is reported, and not the errors that follow from it.
                knowsActors: actors.map { !$0.isEmpty } ?? true, tokens: demand ?? TokenDemand())
            instance = try plugin.instantiate(section, scope, host)
        } catch {
            sink.report(error)
        }
        try sink.throwIfAny()
        return ConsumerBinding(
            plugin.pluginGuard, project: project, demand: demand ?? TokenDemand(), actors: actors ?? [:],
            instance: instance ?? .withheld, host: host, section: section)
    }

    /// The demand on tokens in the section.
    private static func demand(
        _ plugin: ConsumerPlugin, _ section: PolicySection, stage: ProjectStage
    ) throws(Diagnostics) -> TokenDemand {
        let standard = TokenDemand(
            acceptsOAuthClients: plugin.descriptor.takesOAuthClients, acceptsDevelopment: stage == .development)
        let found = try section.kernelValue(ConsumerKeys.tokens, as: TokenDemandConfiguration.self)
        guard let configuration = found else { return standard }
        var problems = ConfigurationProblems()
        configuration.report(at: [.key(ConsumerKeys.tokens)], to: &problems)
        if configuration.enforcement != nil, !plugin.allowsUnenforced {
            problems.report(
                at: [.key(ConsumerKeys.tokens), "enforcement"],
                "has no effect here: this consumer needs valid tokens in any case")
        }
        try throwIfAny(problems, in: section)
        return configuration.applied(to: standard)
    }

    /// The issuers whose JWTs name users; nil where the host withholds the keys of one.
    private static func actors(
        _ section: PolicySection, host: PluginHost
    ) throws(Diagnostics) -> [ExactText: TrustedIssuer]? {
        let found = try section.kernelValue(ConsumerKeys.actors, as: [TrustedIssuerConfiguration].self)
        return try section.making(host) { (host) throws(ConfigurationError) in try actors(found ?? [], host: host) }
    }

    private static func actors(
        _ issuers: [TrustedIssuerConfiguration], host: PluginHost
    ) throws(ConfigurationError) -> [ExactText: TrustedIssuer] {
        var problems = ConfigurationProblems()
        var actors: [ExactText: TrustedIssuer] = [:]
        if issuers.count > actorLimit {
            problems.report(at: [.key(ConsumerKeys.actors)], "at most \(actorLimit) issuers may be named")
        }
        for (index, configuration) in issuers.prefix(actorLimit).enumerated() {
            let path: [ConfigurationError.Component] = [.key(ConsumerKeys.actors), .index(index)]
            let made = problems.attempt { () throws(ConfigurationError) in
                try TrustedIssuer(configuration, at: path, host: host, longestLifetime: .seconds(86_400))
            }
            guard let issuer = made else { continue }
            if actors.updateValue(issuer, forKey: ExactText(issuer.name)) != nil {
                problems.report(at: path + ["issuer"], "the issuer is named twice")
            }
        }
        try problems.throwIfAny()
        return actors
    }

    private static func throwIfAny(
        _ problems: ConfigurationProblems, in section: PolicySection
    ) throws(Diagnostics) {
        do throws(ConfigurationError) {
            try problems.throwIfAny()
        } catch {
            throw section.diagnostics(for: error)
        }
    }
}
