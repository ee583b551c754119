internal import AssayCrypto
public import AssayKit
public import AssayPolicy
public import AssayYAML

extension Snapshot {
    /// Makes an instance of each provider for each app, and the keys that the policies need.
    ///
    /// - Throws: ``Diagnostics`` with everything that plugins find wrong in their sections; ``KeyError``.
    init(_ policies: PolicySet, registry: Registry, keys: KeyStore, host: Host) throws {
        let parts = try Snapshot.parts(policies, registry: registry, host: host)
        let now = host.clock.now
        let ring = try keys.ring(for: policies.tokens, now: now, randomness: host.randomness)
        guard let signer = ring.signer(for: policies.tokens) else { throw KeyError("there is no signing key") }
        self.init(
            apps: parts.apps, projects: parts.projects, callers: parts.callers, keys: ring,
            issuer: TokenIssuer(signer: try signer.signer()),
            challenges: ChallengeIssuer(keys: ring.sealing),
            keySet: JWKSet(ring.published(at: now).map(\.jwk)).json,
            tokenVerifier: TokenVerifier(keys: JWKSet(ring.published(at: now).map(\.jwk))),
            descriptors: registry.providers.mapValues(\.descriptor))
    }

    /// What is made of policies alone, without keys.
    struct Parts {
        var apps: [String: AppEntry] = [:]
        var projects: [String: ProjectEntry] = [:]
        let callers: Callers
    }

    /// - Throws: everything that is wrong in the sections of plugins and in those that the kernel decodes itself.
    static func parts(_ policies: PolicySet, registry: Registry, host: Host) throws(Diagnostics) -> Parts {
        let sink = DiagnosticSink()
        let callers = Callers(
            policies, permissions: registry.permissions, secrets: host.secrets, problems: sink)
        var parts = Parts(callers: callers)
        parts.apps = apps(policies, registry: registry, host: host, problems: sink)
        var subjects: [String: [String: AppEntry]] = [:]
        for app in parts.apps.values {
            subjects[app.identity.project.number, default: [:]][app.identity.subject] = app
        }
        for policy in policies.projects {
            let entry = ProjectEntry(
                policy, apps: subjects[policy.identity.number] ?? [:], since: host.clock.now)
            parts.projects["projects/\(policy.identity.number)"] = entry
            parts.projects["projects/\(policy.identity.id)"] = entry
        }
        try sink.throwIfAny()
        return parts
    }

    /// The apps of a policy set under their names.
    private static func apps(
        _ policies: PolicySet, registry: Registry, host: Host, problems sink: DiagnosticSink
    ) -> [String: AppEntry] {
        // A section that an OAuth client shares with its app is read twice, and so is what is wrong in it.
        var seen: Set<Diagnostic> = []
        var apps: [String: AppEntry] = [:]
        apps.reserveCapacity(2 * policies.apps.count)
        for policy in policies.apps {
            var methods: [String: MethodEntry] = [:]
            var providers: [String: ConfiguredProvider] = [:]
            for provider in policy.providers {
                do throws(Diagnostics) {
                    let (entries, config) = try entries(
                        provider, for: policy.identity, registry: registry, host: host)
                    for entry in entries { methods[entry.method.descriptor.name] = entry }
                    providers[provider.name] = ConfiguredProvider(
                        tokenLife: provider.tokenLife, fields: config, location: provider.section.location)
                } catch {
                    for problem in error.all where seen.insert(problem).inserted { sink.report(problem) }
                }
            }
            let entry = AppEntry(
                identity: policy.identity,
                claims: TokenClaims(issuerPrefix: policy.issuerPrefix, app: policy.identity), methods: methods,
                providers: providers, location: policy.location)
            apps[policy.identity.resource] = entry
            if let alias = policy.alias { apps[alias] = entry }
        }
        return apps
    }

    private static func entries(
        _ policy: ProviderPolicy, for app: AppIdentity, registry: Registry, host: Host
    ) throws(Diagnostics) -> (entries: [MethodEntry], config: [ReplyField]) {
        guard let plugin = registry.providers[policy.name] else {
            throw policy.section.unknownProvider(known: Array(registry.providers.keys))
        }
        let provider = ProviderEntry(
            descriptor: plugin.descriptor, tokenLife: policy.tokenLife,
            purpose: SealedPurpose(resource: app.resource, provider: policy.name),
            space: "\(policy.name)/\(app.resource)")
        let bound = try plugin.instantiate(policy.section, app, host)
        return (bound.methods.map { MethodEntry(method: $0, provider: provider) }, bound.config)
    }
}

extension PolicySet {
    /// Checks policies against the plugins that are registered, without keys and without state.
    ///
    /// - Throws: everything that plugins find wrong in their sections.
    public func check(_ registry: Registry, host: Host) throws(Diagnostics) {
        _ = try Snapshot.parts(self, registry: registry, host: host)
    }
}
