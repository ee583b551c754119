internal import AssayKit

/// Everything that a request is judged by: policies, instances of plugins, keys. Immutable; a request sees one.
struct Snapshot: Sendable {
    /// The apps and OAuth clients, under each of their names.
    let apps: [String: AppEntry]
    let keys: KeyRing
    let issuer: TokenIssuer
    let challenges: ChallengeIssuer
    /// The reply of `GET jwks`.
    let keySet: JSON
    /// What providers do between calls.
    let upkeep: UpkeepList
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
