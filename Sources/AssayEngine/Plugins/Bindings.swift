package import AssayCore
package import AssayKit
package import AssayPolicy
package import AssayYAML

/// One app or OAuth client, with an instance of each provider that its policy names.
package final class AppBinding: Sendable {
    package let identity: AppIdentity
    /// The claims of its tokens.
    package let claims: AppCheckClaims
    /// The providers that its policy names, by their names.
    package let providers: [ExactText: ProviderBinding]
    /// The methods of those providers.
    package let methods: [ExactText: MethodBinding]
    /// The name of its resource: the key for what is remembered about its peers, also across reloads.
    package let name: ExactText
    /// The rate limit of its calls; nil for none.
    package let bucket: TokenBucket?
    /// The rules over the facts of each provider, by its name.
    package let rules: [ExactText: RuleSet]
    /// Which of its evidence is captured, if the policies have a key for it.
    let capture: CapturePolicy.Decisions
    /// The methods of providers with shadow settings, by the methods' names.
    package let shadows: [ExactText: MethodBinding]
    /// The place of its policy.
    package let location: SourceLocation

    /// - Parameter bucket: the one of the previous snapshot, if its limit is unchanged; nil when calls are not limited.
    package init(
        _ policy: AppPolicy, providers: [ExactText: ProviderBinding], methods: [ExactText: MethodBinding],
        bucket: TokenBucket?, capture: CapturePolicy.Decisions = .none, rules: [ExactText: RuleSet] = [:],
        shadows: [ExactText: MethodBinding] = [:]
    ) {
        identity = policy.identity
        claims = AppCheckClaims(issuerPrefix: policy.issuerPrefix, app: policy.identity)
        name = ExactText(policy.identity.resource)
        location = policy.location
        self.providers = providers
        self.methods = methods
        self.bucket = bucket
        self.capture = capture
        self.rules = rules
        self.shadows = shadows
    }
}

/// One provider for one app: an instance, and its part of the app's policy.
package final class ProviderBinding: Sendable {
    package let descriptor: PluginDescriptor
    /// What holds the plugin to its limits.
    package let pluginGuard: PluginGuard
    /// Stops calls of the instance while it keeps failing.
    package let breaker: CircuitBreaker
    /// The state store as the plugin gets it.
    package let store: any StateStore
    /// The lifetime of session tokens.
    package let tokenLifetime: Duration
    /// The statuses of refusals that the policy names, by the codes of their reasons.
    package let refusalStatuses: [ExactText: RefusalStatus]
    /// Whether exchanges may have fields that their method does not have.
    let ignoresUnknownFields: Bool
    /// The purpose that challenges and artifacts are bound to.
    let purpose: SealedPurpose
    /// The provider's namespace of the state store.
    package let space: String
    /// The namespace of the app that an OAuth client is linked to; for an app, its own.
    package let appSpace: String
    /// The namespaces by their names in records.
    package var spaces: ProviderSpaces { ProviderSpaces(app: space, linked: appSpace, plugin: descriptor.name) }
    /// The provider's fields in the resource of its settings, next to the kernel's.
    package let config: [ReplyField]
    /// The maintenance of the instance.
    let maintenance: Maintenance?
    /// What the instance says that is wrong at present.
    let problem: @Sendable () -> String?
    /// The place in the policy that names it.
    package let location: SourceLocation

    package init(
        _ policy: ProviderPolicy, of pluginGuard: PluginGuard, for app: AppIdentity, host: PluginHost,
        config: [ReplyField], maintenance: Maintenance?, problem: @escaping @Sendable () -> String? = { nil }
    ) throws(Diagnostics) {
        descriptor = pluginGuard.descriptor
        self.pluginGuard = pluginGuard
        breaker = PluginGuard.breaker(host)
        store = PluginStore(host.store, of: pluginGuard, host: host)
        tokenLifetime = policy.tokenLifetime
        refusalStatuses = try policy.refusalStatuses(of: descriptor.reasons)
        ignoresUnknownFields = try policy.ignoresUnknownFields()
        purpose = SealedPurpose(resource: app.resource, provider: policy.name)
        space = "\(policy.name)/\(app.resource)"
        appSpace = "\(policy.name)/\(app.linkedApp ?? app.resource)"
        self.config = config
        self.maintenance = maintenance
        self.problem = problem
        location = policy.section.location
    }
}

/// A method of one provider for one app.
package struct MethodBinding: Sendable {
    package enum Action: Sendable {
        case challenge
        case exchange(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedExchange)
        case call(@Sendable (RequestFields) throws(InvalidRequest) -> PreparedCall)
        /// There is no instance, because a secret was not read: policies can be judged, and nothing answered.
        case withheld
    }

    package let descriptor: MethodDescriptor
    package let provider: ProviderBinding
    package let action: Action

    /// The fields of a request of the method.
    package func fields(of body: JSON) throws(InvalidRequest) -> RequestFields {
        if case .exchange = action, !provider.ignoresUnknownFields,
            let refusal = ClosedRequest(descriptor)?.refusal(of: body)
        {
            throw refusal
        }
        return try RequestFields(body, bytesLimit: provider.descriptor.limits.evidence)
    }
}

/// One project, with its apps.
package final class ProjectBinding: Sendable {
    package let identity: ProjectIdentity
    /// Its canonical name, `projects/NUMBER`; the first audience of its tokens.
    package let name: String
    /// The `iss` of its tokens.
    package let issuer: String
    /// Its apps and OAuth clients, by the subjects of their tokens.
    package let apps: [ExactText: AppBinding]
    /// Whether `verifyAppCheckToken` accepts tokens of providers for development.
    let acceptsDevelopment: Bool
    /// Where `verifyAppCheckToken` remembers uses of tokens.
    let verificationSpace: ConsumptionSpace
    /// The services that its section `services` names, by their names.
    let services: [ExactText: ProjectService]
    /// The place of its policy.
    package let location: SourceLocation
    /// Since when the policy is in force in this process.
    package let since: Instant

    init(_ policy: ProjectPolicy, apps: [ExactText: AppBinding], since: Instant) {
        identity = policy.identity
        name = "projects/\(policy.identity.number)"
        issuer = policy.issuerPrefix + policy.identity.number
        self.apps = apps
        acceptsDevelopment = policy.acceptsDevelopment
        verificationSpace = policy.consumption == .shared ? .shared : .verification
        services = Dictionary(
            policy.services.map { (ExactText($0.id), ProjectService($0)) }, uniquingKeysWith: { first, _ in first })
        location = policy.location
        self.since = since
    }
}
