internal import AssayKit
internal import AssayYAML

/// Reads policy files one after the other, and goes on after errors so that all are found, or as many as are kept.
struct PolicyLoader {
    private let sink: DiagnosticSink
    private var tokens: (policy: TokenPolicy, location: SourceLocation)?
    private var callers: [CallerPolicy] = []
    private var projects: [ProjectPolicy] = []
    private var apps: [AppPolicy] = []
    private var names = ClaimedNames()

    init(sink: DiagnosticSink) {
        self.sink = sink
    }

    /// What was read.
    var policies: PolicySet {
        PolicySet(tokens: tokens?.policy ?? TokenPolicy(), callers: callers, projects: projects, apps: apps)
    }

    mutating func read(_ file: PolicyFile) {
        do throws(Diagnostics) {
            let root = try YAMLDocument.parse(file.bytes, file: file.name)
            readFile(YAMLValue(root, sink: sink))
        } catch {
            sink.report(error)
        }
    }

    private mutating func readFile(_ root: YAMLValue) {
        guard let file = root.mapping() else { return }
        defer { file.finish() }
        if let version = file.optional("version", as: Int.self), version != 1 {
            file.optional("version")?.report("version \(version) of the policy format is not known; this is version 1")
        }
        if let section = file.optional("tokens") { readTokens(section) }
        if let section = file.optional("callers")?.mapping() { readCallers(section) }
        for project in file.optional("projects")?.elements() ?? [] where !sink.isOverfull { readProject(project) }
    }

    private mutating func readTokens(_ value: YAMLValue) {
        guard let section = value.mapping() else { return }
        defer { section.finish() }
        if let first = tokens {
            value.report(
                "the section `tokens` stands in more than one place",
                related: [.init(location: first.location, message: "first here")])
        }
        var policy = TokenPolicy()
        if let value = section.optional("algorithm"), let name = value.decode(String.self) {
            if let algorithm = TokenPolicy.Algorithm(rawValue: name) {
                policy.algorithm = algorithm
            } else {
                value.report("expected RS256 or ES256, found `\(name)`")
            }
        }
        if let value = section.optional("rsa_bits"), let bits = value.decode(Int.self) {
            if bits != 2048, bits != 3072 { value.report("expected 2048 or 3072, found \(bits)") }
            if policy.algorithm != .rs256 { value.report("means nothing with \(policy.algorithm.rawValue)") }
            policy.rsaBits = bits
        }
        tokens = (policy, value.location)
    }

    private mutating func readCallers(_ section: YAMLMapping) {
        for (entry, _) in section.all() {
            guard Identifiers.isCallerName(entry.key) else {
                section.report(
                    "a caller's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`", key: entry.key)
                continue
            }
            names.claim("the caller", entry.key, by: section, key: entry.key)
            callers.append(
                CallerPolicy(name: entry.key, section: PolicySection(entry, in: section.path, kernelKeys: [])))
        }
    }

    private mutating func readProject(_ value: YAMLValue) {
        guard let section = value.mapping() else { return }
        defer { section.finish() }
        let number = text(
            section, "number", "a project number: decimal digits without leading zeros", Identifiers.isProjectNumber)
        let id = text(section, "id", "a project ID such as example-project", Identifiers.isProjectID)
        var issuerPrefix = "https://firebaseappcheck.googleapis.com/"
        if let issuer = section.optional("issuer"), let prefix = issuer.decode(String.self) {
            if Identifiers.isIssuerPrefix(prefix) {
                issuerPrefix = prefix
            } else {
                issuer.report("expected an https URL that ends in a slash; the project's number is put behind it")
            }
        }
        if let number { names.claim("the project", number, by: section, key: "number") }
        if let id { names.claim("the project", id, by: section, key: "id") }
        let project = ProjectIdentity(number: number ?? "0", id: id ?? "unknown")
        let verification = section.optional("verification")?.mapping()
        projects.append(
            ProjectPolicy(
                identity: project, issuerPrefix: issuerPrefix,
                acceptsDevelopment: verification?.optional("accept_development", as: Bool.self) ?? false,
                services: section.optional("services")?.mapping().map { ServiceReader.read($0) } ?? [],
                location: value.location))
        verification?.finish()
        var appsOfProject: [String: AppPolicy] = [:]
        for value in section.optional("apps")?.elements() ?? [] where !sink.isOverfull {
            guard let app = readApp(value, of: project, issuerPrefix: issuerPrefix) else { continue }
            apps.append(app)
            appsOfProject[app.identity.subject] = app
        }
        for value in section.optional("oauth_clients")?.elements() ?? [] where !sink.isOverfull {
            guard let client = readClient(value, apps: appsOfProject) else { continue }
            apps.append(client)
        }
    }

    private mutating func readApp(
        _ value: YAMLValue, of project: ProjectIdentity, issuerPrefix: String
    ) -> AppPolicy? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        let id = text(section, "id", "an app ID such as 1:1234567890:ios:321abc456def7890", Identifiers.isAppID)
        if let id { names.claim("the app", id, by: section, key: "id") }
        _ = section.optional("name", as: String.self)
        let apple = section.optional("apple").flatMap { readApple($0) }
        let providers = readProviders(section)
        guard let id else { return nil }
        let identity = AppIdentity(
            resource: "projects/\(project.number)/apps/\(id)", kind: .app, project: project, subject: id, apple: apple)
        return AppPolicy(
            identity: identity, issuerPrefix: issuerPrefix, alias: "projects/\(project.id)/apps/\(id)",
            providers: providers, location: value.location)
    }

    private mutating func readClient(_ value: YAMLValue, apps: [String: AppPolicy]) -> AppPolicy? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        let id = text(section, "id", "an OAuth client ID", Identifiers.isOAuthClientID)
        if let id { names.claim("the OAuth client", id, by: section, key: "id") }
        _ = section.optional("name", as: String.self)
        // A section that is there and empty is the client's own: nothing is inherited by leaving values out.
        let own = section.stated("providers").map { _ in readProviders(section) }
        if own == nil, let life = section.optional(ProviderKeys.tokenTTL) {
            life.report("means nothing without `providers` of the client's own: those of its app are used")
        }
        guard let link = section.required("app"), let appID = link.decode(String.self) else { return nil }
        guard let app = apps[appID] else {
            link.report(
                "there is no app `\(appID)` in this project", hint: Spelling.hint(for: appID, among: Array(apps.keys)))
            return nil
        }
        guard let id else { return nil }
        let identity = AppIdentity(
            resource: "oauthClients/\(id)", kind: .oauthClient, project: app.identity.project, subject: id,
            apple: app.identity.apple)
        return AppPolicy(
            identity: identity, issuerPrefix: app.issuerPrefix, alias: nil, providers: own ?? app.providers,
            location: value.location)
    }

    private func readApple(_ value: YAMLValue) -> AppleIdentity? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        let team = text(
            section, "team_id", "an Apple team ID: ten upper-case letters and digits", Identifiers.isTeamID)
        let bundle = text(section, "bundle_id", "a bundle ID such as com.example.app", Identifiers.isBundleID)
        guard let team, let bundle else { return nil }
        return AppleIdentity(teamID: team, bundleID: bundle)
    }

    private func readProviders(_ app: YAMLMapping) -> [ProviderPolicy] {
        let common = app.optional("token_ttl").flatMap { ProviderKeys.tokenLife($0) }
        guard let section = app.optional("providers")?.mapping() else { return [] }
        return section.all().map { entry, value in
            let own = value.mapping()?.optional(ProviderKeys.tokenTTL).flatMap { ProviderKeys.tokenLife($0) }
            return ProviderPolicy(
                name: entry.key, tokenLife: own ?? common ?? ProviderKeys.defaultTokenLife,
                section: PolicySection(entry, in: section.path, kernelKeys: ProviderKeys.all))
        }
    }

    /// Text of a required key that must have a certain form.
    private func text(
        _ section: YAMLMapping, _ key: String, _ expected: String, _ isGood: (String) -> Bool
    ) -> String? {
        guard let value = section.required(key), let text = value.decode(String.self) else { return nil }
        guard isGood(text) else {
            value.report("expected \(expected)")
            return nil
        }
        return text
    }
}
