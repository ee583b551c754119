package import AssayCore
package import AssayKit
package import AssayPolicy
package import AssayYAML

/// Everything that a request is judged by and that may change: policies, plugin instances, keys, the deny lists, and since
/// when the state is complete.
///
/// Immutable: what changes makes another one. A request reads only one, with one lock.
final class Snapshot: Sendable {
    let policies: BoundPolicies
    let keys: KeyPlan
    /// Since when the state is complete; nil until the keys were compared with those that the state remembers.
    let beginning: Instant?
    /// The deny list of the state, as it was last read; nil until it was.
    let storedDenials: LiveDocument<DenyList>.Known?
    /// The deny lists in force.
    let denials: Denials

    init(
        policies: BoundPolicies, keys: KeyPlan, beginning: Instant? = nil,
        storedDenials: LiveDocument<DenyList>.Known? = nil
    ) {
        self.policies = policies
        self.keys = keys
        self.beginning = beginning
        self.storedDenials = storedDenials
        denials = Denials(policies: policies.denials, server: storedDenials?.value ?? DenyList())
    }

    /// The same with other policies or keys.
    func replacing(policies: BoundPolicies? = nil, keys: KeyPlan) -> Snapshot {
        Snapshot(
            policies: policies ?? self.policies, keys: keys, beginning: keys === self.keys ? beginning : nil,
            storedDenials: storedDenials)
    }

    /// The same, with the beginning of a state that remembers its keys.
    func complete(since beginning: Instant) -> Snapshot {
        Snapshot(policies: policies, keys: keys, beginning: beginning, storedDenials: storedDenials)
    }

    /// The same, with a deny list that was read.
    func reading(_ denials: LiveDocument<DenyList>.Known) -> Snapshot {
        Snapshot(policies: policies, keys: keys, beginning: beginning, storedDenials: denials)
    }
}

/// Policies with an instance of each plugin that they name.
package struct BoundPolicies: Sendable {
    /// The apps and OAuth clients, under each of their names.
    package var apps: [ExactText: AppBinding] = [:]
    /// The projects, under each of their names.
    package var projects: [ExactText: ProjectBinding] = [:]
    /// The projects, by the `iss` of their tokens.
    var projectsByIssuer: [ExactText: ProjectBinding] = [:]
    /// The consumers of tokens, of all projects.
    package var consumers = ConsumerBindings()
    /// The maintenance of providers and consumers.
    var maintenance = MaintenanceList([])
    /// Whom evidence is captured for; nil for none.
    var capture: CaptureTarget?
    /// The callers of methods that demand a permission.
    package let callers: Callers
    /// What the policies say about tokens, and so about keys.
    package let tokens: TokenPolicy
    /// What the policies say, in short, for records.
    package let revision: PolicyRevision
    /// The deny list of the policies.
    package let denials: DenyList
    /// The descriptors of this program's providers, by their names.
    package let descriptors: [ExactText: PluginDescriptor]
    /// The warnings about the policies, which are valid anyway; nil when there are none.
    package var warnings: Diagnostics?

    /// The resource with exactly this name; nil when no policy has it.
    ///
    /// Policies have ASCII names only.
    package func find(_ resource: String) -> FoundResource? {
        guard resource.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return apps[resource].map { .app($0) } ?? projects[resource].map { .project($0) }
    }
}

/// What the name of a resource stands for in a snapshot.
package enum FoundResource: Sendable {
    case app(AppBinding)
    case project(ProjectBinding)

    package var project: ProjectIdentity {
        switch self {
        case .app(let app): app.identity.project
        case .project(let project): project.identity
        }
    }

    package var kind: ResourceKind {
        switch self {
        case .app(let app): app.identity.kind
        case .project: .project
        }
    }

    /// The app ID or the OAuth client ID; nil for a project.
    package var app: String? {
        if case .app(let app) = self { app.identity.subject } else { nil }
    }

    /// The canonical name.
    package var name: String {
        switch self {
        case .app(let app): app.identity.resource
        case .project(let project): project.name
        }
    }
}

extension BoundPolicies {
    /// The services of a project.
    package func services(of project: ProjectBinding) -> ProjectServices {
        ProjectServices(project, backends: consumers.services[project.name] ?? [:])
    }
}
