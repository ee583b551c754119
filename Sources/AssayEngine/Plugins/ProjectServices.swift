package import AssayCore
package import AssayKit
package import AssayPolicy
package import AssayYAML

/// A service of a project: one that its section `services` names, or a backend of a consumer.
package struct ProjectService: Sendable {
    package let id: String
    /// What it demands of tokens, with the levels of the policy; administrators may have set others if it is editable.
    package let demand: TokenDemand
    package let isEditable: Bool
    /// Which uses of a token count here.
    package let consumption: ConsumptionScope
    /// The place of its policy.
    package let location: SourceLocation
    /// Whether requests to it are judged by a consumer, which may demand more than ``demand`` of some.
    package let isBackend: Bool
    /// Whether ``demand`` is all that its requests have to meet.
    let isWhole: Bool

    /// The levels of the policy.
    package var levels: ServiceLevels {
        ServiceLevels(enforcement: demand.enforcement, replayProtection: demand.replayProtection)
    }

    /// A service of the section `services`.
    init(_ policy: ServicePolicy) {
        id = policy.id
        demand = TokenDemand(
            replayProtection: policy.replayProtection, acceptsOAuthClients: policy.acceptsOAuthClients,
            acceptsDevelopment: policy.acceptsDevelopment, enforcement: policy.enforcement)
        isEditable = policy.isEditable
        consumption = policy.consumption
        location = policy.location
        isBackend = false
        isWhole = true
    }

    /// A backend of a consumer.
    ///
    /// - Parameter isWhole: whether it has no other parts.
    init(_ part: PartDemand, isWhole: Bool, at location: SourceLocation) {
        id = part.service
        demand = part.demand
        isEditable = part.isEditable
        consumption = .shared
        self.location = location
        isBackend = true
        self.isWhole = isWhole && part.further.isNil
    }
}

/// The services of a project: what its policy says, and what administrators set within its limits.
package struct ProjectServices: Sendable {
    package let project: ProjectBinding
    private let backends: [ExactText: ProjectService]

    init(_ project: ProjectBinding, backends: [ExactText: ProjectService]) {
        self.project = project
        self.backends = backends
    }

    /// A service that the policy has.
    package subscript(id: String) -> ProjectService? { project.services[id] ?? backends[id] }

    /// The names of all services that the policy has.
    package var names: [ExactText] { (Array(project.services.keys) + backends.keys).sorted() }

    /// A service of the project; nil for one of Google's that the policy lacks.
    package func find(_ id: String) throws(InvalidRequest) -> ProjectService? {
        if let service = self[id] { return service }
        guard ServicePolicy.googleServices.contains(exactly: id) else { throw Self.unsupported(id) }
        return nil
    }

    package static func unsupported(_ service: String) -> InvalidRequest {
        InvalidRequest("Service not supported: \(SafeText.of(service))")
    }

    /// The service whose level decides about requests by itself; nil for one of Google's that the policy lacks, which is OFF.
    package func deciding(_ id: String) throws(InvalidRequest) -> ProjectService? {
        let service = try find(id)
        if let service, !service.isWhole {
            throw InvalidRequest(
                "\(id) is a backend with routes or proofs: only the method of its consumer knows what a request needs")
        }
        return service
    }

    /// The levels in force of a service of the policy.
    package func levels(of service: ProjectService, _ state: ProtectionState) -> ServiceLevels {
        (service.isEditable ? state.services[service.id]?.levels : nil) ?? service.levels
    }

    /// The resource policies in force: none if the policy does not allow administrators to set any.
    package func resourcePolicies(_ state: ProtectionState) -> [ExactText: ResourcePolicy] {
        self[ResourcePolicy.service]?.isEditable == true ? state.resourcePolicies : [:]
    }

    /// The level of one OAuth client within the service of OAuth clients; nil when administrators have set none.
    func level(ofClient client: String, in service: String, _ state: ProtectionState) -> EnforcementMode? {
        guard service.isExactly(ResourcePolicy.service) else { return nil }
        let target = ResourcePolicy.target(ofClient: client, in: project.identity)
        return resourcePolicies(state).values.first { $0.target.isExactly(target) }?.enforcement
    }
}

extension ServiceLevels {
    /// The levels of one OAuth client: replay protection is never above enforcement.
    func lowered(to enforcement: EnforcementMode?) -> ServiceLevels {
        guard let enforcement else { return self }
        return ServiceLevels(enforcement: enforcement, replayProtection: min(replayProtection, enforcement))
    }
}
