internal import AssayKit
internal import AssayPolicy

/// Everything that a request is judged by: policies, instances of plugins, keys. Immutable; a request sees one.
struct Snapshot: Sendable {
    let policies: BoundPolicies
    let keys: KeyPlan
}

/// Policies with an instance of each plugin that they name.
struct BoundPolicies: Sendable {
    /// The apps and OAuth clients, under each of their names.
    var apps: [String: AppEntry] = [:]
    /// The projects, under each of their names.
    var projects: [String: ProjectEntry] = [:]
    /// What providers do between calls.
    var upkeep = UpkeepList([:])
    /// Who may call methods that demand a permission.
    let callers: Callers
    /// What the policies say of tokens, and so of keys.
    let tokens: TokenPolicy

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
    let methods: [String: MethodEntry]

    init(identity: AppIdentity, claims: TokenClaims, methods: [String: MethodEntry]) {
        self.identity = identity
        self.claims = claims
        self.methods = methods
    }
}

/// One project.
final class ProjectEntry: Sendable {
    let identity: ProjectIdentity
    /// The `iss` of its tokens.
    let issuer: String

    init(identity: ProjectIdentity, issuer: String) {
        self.identity = identity
        self.issuer = issuer
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
    let tokenLife: Duration
    let purpose: SealedPurpose
    /// The provider's corner of the state store.
    let space: String
    /// What the instance does between calls.
    let upkeep: Upkeep?

    init(
        descriptor: PluginDescriptor, tokenLife: Duration, purpose: SealedPurpose, space: String, upkeep: Upkeep?
    ) {
        self.descriptor = descriptor
        self.tokenLife = tokenLife
        self.purpose = purpose
        self.space = space
        self.upkeep = upkeep
    }
}
