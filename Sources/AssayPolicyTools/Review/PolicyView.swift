internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML
internal import Logging

/// A set of policies as a server binds them, without their secrets: what decides is what decides in a server.
struct PolicyView: Sendable {
    /// One caller.
    struct CallerView: Sendable {
        let caller: Caller
        let policy: CallerPolicy
        let configuration: CallerConfiguration
    }

    let policies: PolicySet
    let registry: Registry
    let bound: BoundPolicies
    /// The policies of apps and OAuth clients, by their canonical names.
    private(set) var apps: [ExactText: AppPolicy] = [:]
    /// The policies of projects, by their canonical names.
    private(set) var projects: [ExactText: ProjectPolicy] = [:]
    /// The callers by their names.
    private(set) var callers: [ExactText: CallerView] = [:]
    /// The types of the facts of each provider.
    private(set) var factTypes: [ExactText: [ExactText: FactType]] = [:]
    let now: Instant

    /// - Parameter policies: as `Registry.effective(_:)` makes them.
    /// - Throws: the problems of the policies.
    init(_ policies: PolicySet, registry: Registry, now: Instant = HostClock.system.now) throws(Diagnostics) {
        self.policies = policies
        self.registry = registry
        self.now = now
        var host = PluginHost(
            store: MemoryStore(clock: .system),
            logger: Logger(label: "policies", factory: { _ in SwiftLogNoOpLogHandler() }))
        host.secrets = .withholding(WithheldSecrets())
        bound = try BoundPolicies(policies, registry: registry, host: host, following: nil)
        for policy in policies.apps { apps[policy.identity.resource] = policy }
        for project in policies.projects { projects["projects/\(project.identity.number)"] = project }
        for policy in policies.callers {
            guard let configuration = try? policy.section.decode(CallerConfiguration.self) else { continue }
            callers[policy.name] = CallerView(
                caller: Caller(
                    name: policy.name, permissions: Set(configuration.permissions.map { Permission($0) }),
                    projects: configuration.projects.map { Set(exactly: $0) }),
                policy: policy, configuration: configuration)
        }
        for (name, provider) in registry.providers {
            factTypes[name] = Dictionary(
                provider.descriptor.facts.map { (ExactText($0.text), $0.type) }, uniquingKeysWith: { first, _ in first }
            )
        }
    }

    /// The policy of a project.
    func policy(of project: ProjectBinding) -> ProjectPolicy? { projects[project.name] }

    /// What files say of a token: entries by its `jti`, and by the key that it was issued for, which no record of a use tells.
    ///
    /// - Parameter id: nil where it is not known.
    func denial(ofToken id: String?, app: AppBinding, at time: Instant) -> TokenDenial {
        let list = bound.denials
        if let id, let found = list.denial(ofToken: id, app: app.identity, at: time) { return .denied(found.words) }
        if list.mayDenyTokens(of: app.identity, knowingID: !id.isNil, at: time) {
            return .unknown(
                "the deny list names keys, and records of uses do not tell which key a token was issued for")
        }
        return .none
    }
}
