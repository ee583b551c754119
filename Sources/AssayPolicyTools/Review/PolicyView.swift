internal import AssayCore
internal import AssayEngine
internal import AssayHosting
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// A set of policies as calls meet it, without instances of plugins and without secrets.
struct PolicyView: Sendable {
    /// One app or OAuth client.
    struct App: Sendable {
        let policy: AppPolicy
        /// The methods that are offered for it.
        let methods: Set<ExactText>
        /// The rules over the facts of each provider, by its name.
        let rules: [ExactText: RuleSet]

        func has(_ provider: String) -> Bool { policy.providers.contains { $0.name.isExactly(provider) } }
    }

    /// One caller.
    struct CallerView: Sendable {
        let caller: Caller
        let policy: CallerPolicy
        let configuration: CallerConfiguration
    }

    let policies: PolicySet
    let registry: Registry
    /// The apps and OAuth clients, under each of their names.
    private(set) var apps: [ExactText: App] = [:]
    /// The projects, under each of their names.
    private(set) var projects: [ExactText: ProjectPolicy] = [:]
    /// The apps of each project by their subjects, by the project's number.
    private(set) var subjects: [ExactText: [ExactText: App]] = [:]
    /// The callers by their names.
    private(set) var callers: [ExactText: CallerView] = [:]
    /// The types of the facts of each provider.
    private(set) var factTypes: [ExactText: [ExactText: FactType]] = [:]
    /// The deny list, as it is now.
    let denials: DenyList
    let now: Instant

    /// - Parameter policies: as `Registry.effective(_:)` makes them, and without problems.
    init(_ policies: PolicySet, registry: Registry, now: Instant = HostClock.system.now) {
        self.policies = policies
        self.registry = registry
        self.now = now
        denials = DenyList(
            policies.denials, facts: registry.providers.mapValues(\.descriptor.facts), isWhole: false,
            problems: DiagnosticSink())
        for policy in policies.apps {
            let offered = policy.providers.compactMap { registry.providers[$0.name] }.flatMap(\.methods)
                .filter { $0.resources.contains(policy.identity.kind) }
            let app = App(
                policy: policy, methods: Set(exactly: offered.map(\.name)),
                rules: BoundPolicies.rules(of: policy, registry: registry, problems: DiagnosticSink()))
            for name in [policy.identity.resource, policy.alias].compactMap(\.self) { apps[name] = app }
            subjects[policy.identity.project.number, default: [:]][policy.identity.subject] = app
        }
        for project in policies.projects {
            for name in [project.identity.number, project.identity.id] { projects["projects/\(name)"] = project }
        }
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

    /// What the name of a resource stands for.
    enum Found {
        case app(App)
        case project(ProjectPolicy)

        var project: ProjectIdentity {
            switch self {
            case .app(let app): app.policy.identity.project
            case .project(let project): project.identity
            }
        }

        var kind: ResourceKind {
            switch self {
            case .app(let app): app.policy.identity.kind
            case .project: .project
            }
        }
    }

    func find(_ resource: String) -> Found? {
        apps[resource].map { .app($0) } ?? projects[resource].map { .project($0) }
    }

    /// The demand of a consumer on tokens.
    func demand(of consumer: ConsumerPolicy, _ plugin: ConsumerPlugin, in project: ProjectPolicy) -> TokenDemand {
        let standard = TokenDemand(
            acceptsOAuthClients: plugin.descriptor.takesOAuthClients,
            acceptsDevelopment: project.identity.stage == .development)
        let stated = try? consumer.section.kernelValue(ConsumerKeys.tokens, as: TokenDemandConfiguration.self)
        return stated?.applied(to: standard) ?? standard
    }

    /// Why a valid token of an app is refused in a project, apart from what is not recorded of it; nil if it is accepted.
    func refusal(
        of subject: String?, _ provider: String, in project: ProjectPolicy, development: Bool, oauthClients: Bool
    ) -> Reason? {
        guard let subject, let app = subjects[project.identity.number]?[subject] else {
            return KernelReasons.tokenAppUnknown
        }
        if app.policy.identity.kind == .oauthClient, !oauthClients { return KernelReasons.tokenOfOAuthClient }
        if provider.isExactly(MintedTokens.provider) { return nil }
        guard let descriptor = registry.providers[provider]?.descriptor else {
            return KernelReasons.tokenProviderUnsupported
        }
        guard app.has(provider) else { return KernelReasons.tokenProviderNotAllowed }
        return descriptor.isForDevelopment && !development ? KernelReasons.tokenForDevelopment : nil
    }
}
