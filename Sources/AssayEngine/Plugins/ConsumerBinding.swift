package import AssayCore
package import AssayKit
internal import AssayPolicy
internal import AssayVerifier
package import AssayYAML

/// One consumer for one project.
package final class ConsumerBinding: Sendable {
    package let descriptor: PluginDescriptor
    /// What holds the plugin to its limits.
    let pluginGuard: PluginGuard
    /// Stops calls of the instance while it keeps failing.
    let breaker: CircuitBreaker
    /// The state store as the plugin gets it.
    let store: any StateStore
    package let project: ProjectBinding
    /// The demand on tokens in its section.
    package let demand: TokenDemand
    /// The issuers whose JWTs name users, by their `iss`.
    let actors: [ExactText: TrustedIssuer]
    package let instance: ConsumerInstance
    /// The consumer's namespace of the state store.
    let space: String
    /// The place of its section.
    package let location: SourceLocation
    /// Its backends that are services of the project.
    let services: [ProjectService]

    init(
        _ pluginGuard: PluginGuard, project: ProjectBinding, demand: TokenDemand, actors: [ExactText: TrustedIssuer],
        instance: ConsumerInstance, host: PluginHost, section: PolicySection
    ) {
        descriptor = pluginGuard.descriptor
        self.pluginGuard = pluginGuard
        breaker = PluginGuard.breaker(host)
        store = PluginStore(host.store, of: pluginGuard, host: host)
        self.project = project
        self.demand = demand
        self.actors = actors
        self.instance = instance
        space = "\(descriptor.name)/\(project.name)"
        location = section.location
        services = instance.demands.filter { $0.part.isNil && !$0.inherits.isEmpty }.map { own in
            let isWhole = !instance.demands.contains { $0.service.isExactly(own.service) && $0 != own }
            return ProjectService(own, isWhole: isWhole, at: section.location(of: own.path))
        }
    }
}

/// The consumers of all projects, and how requests find them.
package struct ConsumerBindings: Sendable {
    /// The consumers by the canonical names of their projects, then by their own names.
    package private(set) var byProject: [ExactText: [ExactText: ConsumerBinding]] = [:]
    /// The consumers by the names that requests choose them by.
    ///
    /// Several share a name only if they are of one plugin; the project of the token then selects one.
    package private(set) var byAudience: [ExactText: [ConsumerBinding]] = [:]
    /// The same names, to find those that a resource is below of.
    private(set) var audiences = AudienceTree()
    /// The backends of consumers that are services of their projects, by the canonical names of the projects.
    private(set) var services: [ExactText: [ExactText: ProjectService]] = [:]
    /// All instances of each consumer.
    private var byName: [ExactText: [ConsumerBinding]] = [:]

    mutating func add(_ consumer: ConsumerBinding) {
        byProject[consumer.project.name, default: [:]][consumer.descriptor.name] = consumer
        for audience in consumer.instance.audiences {
            byAudience[audience, default: []].append(consumer)
            audiences.insert(audience)
        }
        byName[consumer.descriptor.name, default: []].append(consumer)
        for service in consumer.services { services[consumer.project.name, default: [:]][service.id] = service }
    }

    /// The instances of all consumers.
    package var everywhere: [ConsumerBinding] { byName.values.flatMap(\.self) }

    /// The instances of a consumer.
    package func all(_ consumer: String) -> [ConsumerBinding] { byName[consumer] ?? [] }

    /// The instance that has an audience.
    package func find(_ consumer: String, audience: String) -> ConsumerBinding? {
        guard let found = byAudience[audience], found.count == 1 else { return nil }
        return found.first.flatMap { $0.descriptor.name.isExactly(consumer) ? $0 : nil }
    }
}
