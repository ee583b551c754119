internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Apps and OAuth clients with their providers.
extension PolicyLoader {
    mutating func readApp(_ stated: YAMLValue, of project: OpenProject) {
        let value = profiles.applied(to: stated)
        guard let section = value.mapping(), let keys = section.decode(AppSection.self) else {
            project.knowsAllApps = false
            return
        }
        let id = keys.id.value
        if let id { names.claim("the app", id, by: section, key: AppSection.CodingKeys.id.stringValue) }
        let providers = readProviders(section, keys.tokenLifetime?.value, of: "the app")
        let number = project.identity.number
        if capturedApp == nil, keys.capture != nil {
            capturedApp = section.optional(AppSection.CodingKeys.capture.stringValue)
        }
        let app = AppPolicy(
            identity: AppIdentity(
                resource: "projects/\(number)/apps/\(id ?? "")", kind: .app, project: project.identity,
                subject: id ?? ""),
            issuerPrefix: project.issuerPrefix, alias: "projects/\(project.identity.id)/apps/\(id ?? "")",
            providers: providers, rateLimit: keys.rateLimit?.value,
            rules: keys.rules?.value(sink).map { RuleSection.read($0, warnings: warnings) } ?? [],
            capture: keys.capture?.value,
            // Only plugins can tell which of the other keys are sections of platforms, and which are unknown.
            sections: section.rest().map { PolicySection($0, in: section.path, kernelKeys: []) },
            isSound: project.isSound && !id.isNil, location: value.location, node: value.node, linkedNode: nil)
        project.apps.append(app)
        guard let id else {
            project.knowsAllApps = false
            return
        }
        project.appsByID[ExactText(id)] = app
        let named = id.split(onASCII: ":").dropFirst().first ?? ""
        if project.isSound, !named.isExactly(number) {
            section.optional(AppSection.CodingKeys.id.stringValue)?.warn(
                "the app ID is one of project \(named), but is in project \(number)", into: warnings)
        }
    }

    mutating func readClient(_ value: YAMLValue, of project: OpenProject) {
        guard let section = value.mapping(), let keys = section.decode(OAuthClientSection.self) else { return }
        defer { section.finish() }
        let id = keys.id.value
        if let id {
            names.claim("the OAuth client", id, by: section, key: OAuthClientSection.CodingKeys.id.stringValue)
        }
        // A present but empty section is the client's own: an omitted value is not inherited.
        let own = section.stated(OAuthClientSection.CodingKeys.providers.stringValue).map { _ in
            readProviders(section, keys.tokenLifetime?.value, of: "the OAuth client")
        }
        if own == nil, let lifetime = section.optional(OAuthClientSection.CodingKeys.tokenLifetime.stringValue) {
            lifetime.report("has no effect without the client's own `providers`: those of its app are used")
        }
        let app = keys.app.value.flatMap { linkedApp($0, section, of: project) }
        let identity = AppIdentity(
            resource: "oauthClients/\(id ?? "")", kind: .oauthClient, project: project.identity, subject: id ?? "",
            linkedApp: app?.identity.resource)
        project.clients.append(
            AppPolicy(
                identity: identity, issuerPrefix: project.issuerPrefix, alias: nil,
                providers: own ?? app?.providers ?? [],
                rateLimit: keys.rateLimit.map(\.value) ?? app?.rateLimit,
                rules: app?.rules ?? [], capture: app?.capture, sections: [],
                isSound: !id.isNil && app?.isSound == true, location: value.location, node: value.node,
                linkedNode: app?.node))
    }

    /// The app that an OAuth client is linked to; nil when it does not exist, which is reported.
    private func linkedApp(_ id: String, _ section: YAMLMapping, of project: OpenProject) -> AppPolicy? {
        if let app = project.appsByID[ExactText(id)] { return app }
        // An app that could not be read may be the one that is meant.
        guard project.knowsAllApps else { return nil }
        section.optional(OAuthClientSection.CodingKeys.app.stringValue)?.report(
            "unknown app `\(id)` in this project",
            hint: Spelling.hint(for: id, among: project.appsByID.keys.map(\.string)))
        return nil
    }

    /// - Parameter common: the token lifetime of providers that do not state it.
    private func readProviders(_ app: YAMLMapping, _ common: Duration?, of what: String) -> [ProviderPolicy] {
        let key = AppSection.CodingKeys.providers.stringValue
        guard let value = app.optional(key) else {
            (app.stated(key) ?? app.value).warn(
                "\(what) has no providers: every call for it will be refused", into: warnings)
            return []
        }
        guard let section = value.mapping() else { return [] }
        let all = section.all()
        if all.isEmpty { value.warn("\(what) has no providers: every call for it will be refused", into: warnings) }
        let lifetimeKey = ProviderSection.CodingKeys.tokenLifetime.stringValue
        let shadowKey = ProviderSection.CodingKeys.shadow.stringValue
        return all.map { entry, value in
            if let tried = value.node[shadowKey] {
                MergeCheck(base: "what is in force", warnings: DiagnosticSink()).report(
                    tried, over: value.node.without(ProviderSection.CodingKeys.names), at: value.path.key(shadowKey),
                    to: value.sink)
            }
            // The provider checks that the section is a mapping.
            let stated = value.node[lifetimeKey].flatMap { $0.isNull ? nil : $0 }
            let own = stated.flatMap { node in
                YAMLValue(node, path: value.path.key(lifetimeKey), sink: value.sink)
                    .decode(Duration.self, as: ProviderSection.keys[lifetimeKey])
            }
            return ProviderPolicy(
                name: entry.key, tokenLifetime: own ?? common ?? ProviderSection.defaultTokenLifetime,
                lifetimeLocation: stated?.location ?? app.optional(lifetimeKey)?.location,
                section: PolicySection(entry, in: section.path, kernelKeys: ProviderSection.CodingKeys.names))
        }
    }
}
