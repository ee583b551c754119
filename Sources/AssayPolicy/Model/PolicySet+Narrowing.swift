internal import AssayCore
internal import AssayKit
internal import AssayYAML

extension PolicySet {
    /// What judges evidence for one app by one provider, and nothing else: no callers, no services, no consumers, and no rules; the deny list stays.
    ///
    /// Tests of policies run an engine under it, so that no other section needs its secrets. Platforms must have been read. Keys
    /// for ES256 are made at once.
    package func narrowed(to app: AppPolicy, by provider: ProviderPolicy) -> PolicySet {
        let narrow = AppPolicy(
            identity: app.identity, issuerPrefix: app.issuerPrefix, alias: app.alias, providers: [provider],
            rateLimit: app.rateLimit, rules: [], capture: nil, sections: [], isSound: app.isSound,
            location: app.location, node: app.node, linkedNode: app.linkedNode)
        let owners = projects.filter { $0.identity == app.identity.project }.prefix(1).map { project in
            ProjectPolicy(
                identity: project.identity, issuerPrefix: project.issuerPrefix,
                acceptsDevelopment: project.acceptsDevelopment, consumption: project.consumption, services: [],
                consumers: [], location: project.location, node: project.node)
        }
        return PolicySet(
            tokens: TokenPolicy(algorithm: .es256), capture: nil, callers: [], projects: owners, apps: [narrow],
            sections: [], problems: nil, warnings: nil, development: nil, knowsAllProjects: true, revision: revision,
            denials: denials, roots: [])
    }
}

extension ProviderPolicy {
    /// The same, for tokens of the same lifetime, with another section.
    package func with(_ section: PolicySection) -> ProviderPolicy {
        ProviderPolicy(
            name: name, tokenLifetime: tokenLifetime, lifetimeLocation: lifetimeLocation, section: section)
    }
}
