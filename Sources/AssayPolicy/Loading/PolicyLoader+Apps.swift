internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Apps and OAuth clients with their providers.
extension PolicyLoader {
    mutating func readApp(_ stated: YAMLValue, of project: OpenProject) {
        let value = profiles.applied(to: stated)
        guard let section = value.mapping() else {
            project.knowsAllApps = false
            return
        }
        defer { section.finish() }
        _ = section.optional(Profiles.key)
        let id = text(section, "id", "an app ID such as 1:1234567890:ios:321abc456def7890", Identifiers.isAppID)
        if let id { names.claim("the app", id, by: section, key: "id") }
        _ = section.optional("name", as: String.self)
        let providers = readProviders(section, of: "the app")
        let rateLimit = section.optional(RateLimitReader.key).flatMap { RateLimitReader.read($0) }
        let number = project.identity.number
        let captured = section.optional(CaptureReader.key)
        if capturedApp == nil, let captured { capturedApp = captured }
        let app = AppPolicy(
            identity: AppIdentity(
                resource: "projects/\(number)/apps/\(id ?? "")", kind: .app, project: project.identity,
                subject: id ?? ""),
            issuerPrefix: project.issuerPrefix, alias: "projects/\(project.identity.id)/apps/\(id ?? "")",
            providers: providers, rateLimit: rateLimit,
            rules: section.optional(RuleReader.key).map { RuleReader.read($0, warnings: warnings) } ?? [],
            capture: captured.flatMap { CaptureReader.decisions($0) },
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
            section.optional("id")?.warn(
                "the app ID is one of project \(named), but is in project \(number)", into: warnings)
        }
    }

    mutating func readClient(_ value: YAMLValue, of project: OpenProject) {
        guard let section = value.mapping() else { return }
        defer { section.finish() }
        let id = text(section, "id", "an OAuth client ID", Identifiers.isOAuthClientID)
        if let id { names.claim("the OAuth client", id, by: section, key: "id") }
        _ = section.optional("name", as: String.self)
        // A present but empty section is the client's own: an omitted value is not inherited.
        let own = section.stated("providers").map { _ in readProviders(section, of: "the OAuth client") }
        if own == nil, let lifetime = section.optional(ProviderKeys.tokenTTL) {
            lifetime.report("has no effect without the client's own `providers`: those of its app are used")
        }
        let app = linkedApp(section, of: project)
        let identity = AppIdentity(
            resource: "oauthClients/\(id ?? "")", kind: .oauthClient, project: project.identity, subject: id ?? "",
            linkedApp: app?.identity.resource)
        project.clients.append(
            AppPolicy(
                identity: identity, issuerPrefix: project.issuerPrefix, alias: nil,
                providers: own ?? app?.providers ?? [],
                rateLimit: section.optional(RateLimitReader.key).map { RateLimitReader.read($0) } ?? app?.rateLimit,
                rules: app?.rules ?? [], capture: app?.capture, sections: [],
                isSound: !id.isNil && app?.isSound == true, location: value.location, node: value.node,
                linkedNode: app?.node))
    }

    /// The app that an OAuth client is linked to; nil when it does not exist, which is reported.
    private func linkedApp(_ section: YAMLMapping, of project: OpenProject) -> AppPolicy? {
        guard let link = section.required("app"), let id = link.decode(String.self) else { return nil }
        if let app = project.appsByID[ExactText(id)] { return app }
        // An app that could not be read may be the one that is meant.
        guard project.knowsAllApps else { return nil }
        link.report(
            "unknown app `\(id)` in this project",
            hint: Spelling.hint(for: id, among: project.appsByID.keys.map(\.string)))
        return nil
    }

    private func readProviders(_ app: YAMLMapping, of what: String) -> [ProviderPolicy] {
        let common = app.optional(ProviderKeys.tokenTTL).flatMap { ProviderKeys.tokenLifetime($0) }
        guard let value = app.optional("providers") else {
            (app.stated("providers") ?? app.value).warn(
                "\(what) has no providers: every call for it will be refused", into: warnings)
            return []
        }
        guard let section = value.mapping() else { return [] }
        let all = section.all()
        if all.isEmpty { value.warn("\(what) has no providers: every call for it will be refused", into: warnings) }
        return all.map { entry, value in
            if let tried = value.node[ProviderKeys.shadow] {
                MergeCheck(base: "what is in force", warnings: DiagnosticSink()).report(
                    tried, over: value.node.without(ProviderKeys.all), at: value.path.key(ProviderKeys.shadow),
                    to: value.sink)
            }
            // The provider checks that the section is a mapping.
            let stated = value.node[ProviderKeys.tokenTTL].flatMap { $0.isNull ? nil : $0 }
            let own = stated.flatMap { node in
                ProviderKeys.tokenLifetime(
                    YAMLValue(node, path: value.path.key(ProviderKeys.tokenTTL), sink: value.sink))
            }
            return ProviderPolicy(
                name: entry.key, tokenLifetime: own ?? common ?? ProviderKeys.defaultTokenLifetime,
                lifetimeLocation: stated?.location ?? app.optional(ProviderKeys.tokenTTL)?.location,
                section: PolicySection(entry, in: section.path, kernelKeys: ProviderKeys.all))
        }
    }

    /// Text of a required key that must have a certain form.
    func text(
        _ section: YAMLMapping, _ key: String, _ expected: String, _ isGood: (String) -> Bool
    ) -> String? {
        guard let value = section.required(key), let text = value.decode(String.self) else { return nil }
        guard isGood(text) else {
            value.report(name: text, "expected \(expected)")
            return nil
        }
        return text
    }
}
