internal import AssayCrypto
public import AssayKit
public import AssayPolicy
public import AssayYAML

extension Snapshot {
    /// Makes an instance of each provider for each app, and the keys that the policies need.
    ///
    /// - Throws: ``Diagnostics`` with everything that plugins find wrong in their sections; ``KeyError``.
    init(_ policies: PolicySet, registry: Registry, keys: KeyStore, host: Host) throws {
        let apps = try Snapshot.apps(policies, registry: registry, host: host)
        let now = host.clock.now
        let ring = try keys.ring(for: policies.tokens, now: now, randomness: host.randomness)
        guard let signer = ring.signer(for: policies.tokens) else { throw KeyError("there is no signing key") }
        self.init(
            apps: apps, keys: ring, issuer: TokenIssuer(signer: try signer.signer()),
            challenges: ChallengeIssuer(keys: ring.sealing),
            keySet: JWKSet(ring.published(at: now).map(\.jwk)).json, upkeep: UpkeepList(apps))
    }

    /// The apps of a policy set under their names; for checking policies, no keys are needed.
    static func apps(_ policies: PolicySet, registry: Registry, host: Host) throws(Diagnostics) -> [String: AppEntry] {
        let sink = DiagnosticSink()
        // A section that an OAuth client shares with its app is read twice, and so is what is wrong in it.
        var seen: Set<Diagnostic> = []
        var apps: [String: AppEntry] = [:]
        apps.reserveCapacity(2 * policies.apps.count)
        for policy in policies.apps {
            var methods: [String: MethodEntry] = [:]
            for provider in policy.providers {
                do throws(Diagnostics) {
                    for entry in try entries(provider, for: policy.identity, registry: registry, host: host) {
                        methods[entry.method.descriptor.name] = entry
                    }
                } catch {
                    for problem in error.all where seen.insert(problem).inserted { sink.report(problem) }
                }
            }
            let entry = AppEntry(
                identity: policy.identity,
                claims: TokenClaims(issuerPrefix: policy.issuerPrefix, app: policy.identity), methods: methods)
            apps[policy.identity.resource] = entry
            if let alias = policy.alias { apps[alias] = entry }
        }
        try sink.throwIfAny()
        return apps
    }

    private static func entries(
        _ policy: ProviderPolicy, for app: AppIdentity, registry: Registry, host: Host
    ) throws(Diagnostics) -> [MethodEntry] {
        guard let plugin = registry.providers[policy.name] else {
            throw policy.section.unknownProvider(known: Array(registry.providers.keys))
        }
        let bound = try plugin.instantiate(policy.section, app, host)
        let provider = ProviderEntry(
            descriptor: plugin.descriptor, tokenLife: policy.tokenLife,
            purpose: SealedPurpose(resource: app.resource, provider: policy.name),
            space: "\(policy.name)/\(app.resource)", upkeep: bound.upkeep)
        return bound.methods.map { MethodEntry(method: $0, provider: provider) }
    }
}

extension PolicySet {
    /// Checks policies against the plugins that are registered, without keys and without state.
    ///
    /// - Throws: everything that plugins find wrong in their sections.
    public func check(_ registry: Registry, host: Host) throws(Diagnostics) {
        _ = try Snapshot.apps(self, registry: registry, host: host)
    }
}
