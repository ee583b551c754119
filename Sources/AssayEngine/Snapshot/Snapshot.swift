internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// Everything that a request is judged by: policies, instances of plugins, keys. Immutable; a request sees one.
final class Snapshot: Sendable {
    let policies: BoundPolicies
    let keys: KeyPlan

    init(policies: BoundPolicies, keys: KeyPlan) {
        self.policies = policies
        self.keys = keys
    }
}

/// Policies with an instance of each plugin that they name.
struct BoundPolicies: Sendable {
    /// The apps and OAuth clients, under each of their names.
    var apps: [ExactText: AppEntry] = [:]
    /// The projects, under each of their names.
    var projects: [ExactText: ProjectEntry] = [:]
    /// The projects, by the `iss` of their tokens.
    var projectsByIssuer: [ExactText: ProjectEntry] = [:]
    /// What tokens are good for.
    var consumers = ConsumerEntries()
    /// What providers do between calls.
    var maintenance = MaintenanceList([:])
    /// Who may call methods that demand a permission.
    let callers: Callers
    /// What the policies say of tokens, and so of keys.
    let tokens: TokenPolicy
    /// What the providers of this program say of themselves, by their names.
    let descriptors: [ExactText: PluginDescriptor]
    /// What is questionable in the policies, and no reason to refuse them; nil when nothing is.
    var warnings: Diagnostics?

    /// What has exactly this name; nil when no policy knows it.
    ///
    /// A dictionary takes text for equal that Unicode calls equivalent, such as a Kelvin sign and a K; policies have
    /// names of ASCII only.
    func find(_ resource: String) -> FoundResource? {
        guard resource.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return apps[resource].map { .app($0) } ?? projects[resource].map { .project($0) }
    }
}

/// One app or OAuth client, ready to be called.
final class AppEntry: Sendable {
    let identity: AppIdentity
    /// What tokens for it say.
    let claims: TokenClaims
    /// The methods of the providers that its policy names.
    let methods: [ExactText: MethodEntry]
    /// Those providers, by their names.
    let providers: [ExactText: ConfiguredProvider]
    /// Its resource's name, by which what is remembered of its peers is found, also after a reload.
    let name: ExactText
    /// How many calls are answered; nil for all.
    let bucket: TokenBucket?
    /// Where its policy stands.
    let location: SourceLocation

    init(
        identity: AppIdentity, claims: TokenClaims, methods: [ExactText: MethodEntry],
        providers: [ExactText: ConfiguredProvider], bucket: TokenBucket?, location: SourceLocation
    ) {
        self.identity = identity
        name = ExactText(identity.resource)
        self.claims = claims
        self.methods = methods
        self.providers = providers
        self.bucket = bucket
        self.location = location
    }
}

/// One project.
final class ProjectEntry: Sendable {
    let identity: ProjectIdentity
    /// Its canonical name, `projects/NUMBER`; the first audience of its tokens.
    let name: String
    /// The `iss` of its tokens.
    let issuer: String
    /// Its apps and OAuth clients, by the subjects of their tokens.
    let apps: [ExactText: AppEntry]
    /// Whether `verifyAppCheckToken` takes tokens of providers for development.
    let acceptsDevelopment: Bool
    /// Where the uses are remembered that `verifyAppCheckToken` knows of.
    let verificationSpace: ConsumptionSpace
    /// The services that policies speak of, by their names.
    let services: [ExactText: ServicePolicy]
    /// Where its policy stands.
    let location: SourceLocation
    /// Since when the policy is in force in this process.
    let since: Instant

    init(_ policy: ProjectPolicy, apps: [ExactText: AppEntry], since: Instant) {
        identity = policy.identity
        name = "projects/\(policy.identity.number)"
        issuer = policy.issuerPrefix + policy.identity.number
        self.apps = apps
        acceptsDevelopment = policy.acceptsDevelopment
        verificationSpace = policy.consumption == .shared ? .shared : .verification
        services = Dictionary(policy.services.map { (ExactText($0.id), $0) }, uniquingKeysWith: { first, _ in first })
        location = policy.location
        self.since = since
    }
}

/// One method of one provider for one app.
struct MethodEntry: Sendable {
    let method: BoundMethod
    let provider: ProviderEntry
}

/// One provider for one app.
final class ProviderEntry: Sendable {
    let descriptor: PluginDescriptor
    let tokenLifetime: Duration
    let purpose: SealedPurpose
    /// The provider's corner of the state store.
    let space: String
    /// That of the app that an OAuth client is linked to; for an app, the same.
    let appSpace: String
    /// What the instance does between calls.
    let maintenance: Maintenance?

    init(
        descriptor: PluginDescriptor, tokenLifetime: Duration, purpose: SealedPurpose, space: String, appSpace: String,
        maintenance: Maintenance?
    ) {
        self.descriptor = descriptor
        self.tokenLifetime = tokenLifetime
        self.purpose = purpose
        self.space = space
        self.appSpace = appSpace
        self.maintenance = maintenance
    }
}
