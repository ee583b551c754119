internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Reads policy files one after the other, and continues after errors to report all of them, up to a limit.
struct PolicyLoader {
    private let sink: DiagnosticSink
    private let warnings = DiagnosticSink()
    /// What a server for production refuses.
    private let development = DiagnosticSink()
    /// Whether all projects are known.
    private var isWhole: Bool
    private var tokens: (policy: TokenPolicy, location: SourceLocation)?
    private var capture: (policy: CapturePolicy?, location: SourceLocation)?
    /// The first app that says what is captured of it.
    private var capturedApp: YAMLValue?
    private var callers: [CallerPolicy] = []
    private var projects: [ProjectPolicy] = []
    private var names = ClaimedNames()
    /// What is defined once and used in many places, in all files.
    private let profiles = Profiles()
    private let issuers = NamedIssuers()
    /// The root's keys that plugins may know.
    private var sections: [PolicySection] = []
    /// The projects in the order of the files, and by both names.
    private var open: [OpenProject] = []
    private var openByName: [ExactText: OpenProject] = [:]
    /// The entries that add apps to a project of another place.
    private var additions: [YAMLMapping] = []
    private var revision = RevisionReader([])
    private var denials: [DenyPolicy] = []
    /// How many entries the deny list has, with those that are wrong.
    private var denialCount = 0
    private var deniedApps: [YAMLValue] = []
    private var nodes: [YAMLNode] = []

    init(sink: DiagnosticSink, isWhole: Bool) {
        self.sink = sink
        self.isWhole = isWhole
    }

    /// What was read.
    var policies: PolicySet {
        PolicySet(
            tokens: tokens?.policy ?? TokenPolicy(), capture: capture?.policy, callers: callers, projects: projects,
            apps: open.flatMap { $0.apps + $0.clients }, sections: sections,
            problems: sink.diagnostics, warnings: warnings.diagnostics,
            development: development.diagnostics, knowsAllProjects: isWhole && !sink.isOverfull,
            revision: revision.revision, denials: denials, roots: nodes)
    }

    /// Reads files: first what they define for each other, then all the rest.
    mutating func read(_ files: [PolicyFile]) {
        var roots: [YAMLMapping] = []
        revision = RevisionReader(files)
        for file in files where !sink.isOverfull {
            do throws(Diagnostics) {
                let root = YAMLValue(try YAMLDocument.parse(file.bytes, file: file.name), sink: sink)
                if let mapping = root.mapping() {
                    roots.append(mapping)
                    nodes.append(root.node)
                } else {
                    isWhole = false
                }
            } catch {
                isWhole = false
                sink.report(error)
            }
        }
        profiles.isWhole = isWhole
        issuers.isWhole = isWhole
        for root in roots { readDefinitions(root) }
        for root in roots where !sink.isOverfull { readFile(root) }
        for addition in additions where !sink.isOverfull { readAddition(addition) }
        for project in open {
            for client in project.clientValues where !sink.isOverfull { readClient(client, of: project) }
        }
        guard isWhole, !sink.isOverfull else { return }
        if capture == nil, let capturedApp {
            capturedApp.warn("has no effect without the section `\(CaptureReader.key)` of the file", into: warnings)
        }
        profiles.reportUnused(to: warnings)
        issuers.reportUnused(to: warnings)
        checkDeniedApps()
    }

    /// Reports the apps of the deny list that no project has.
    private func checkDeniedApps() {
        let known = Set(open.flatMap { $0.apps + $0.clients }.map { ExactText($0.identity.subject) })
        guard open.allSatisfy(\.knowsAllApps) else { return }
        for value in deniedApps {
            guard let name = value.decode(String.self), !known.contains(ExactText(name)) else { continue }
            value.report(
                "unknown app or OAuth client `\(name)`", hint: Spelling.hint(for: name, among: known.map(\.string)))
        }
    }

    private func readDefinitions(_ file: YAMLMapping) {
        if let value = file.optional(Profiles.section) {
            if let section = value.mapping() { profiles.add(section) } else { profiles.isWhole = false }
        }
        if let value = file.optional(NamedIssuers.section) {
            if let section = value.mapping() { issuers.add(section) } else { issuers.isWhole = false }
        }
    }

    private mutating func readFile(_ file: YAMLMapping) {
        defer {
            // Only plugins can tell which of the other keys are sections of platforms, and which are unknown.
            sections += file.rest().map { PolicySection($0, in: file.path, kernelKeys: []) }
        }
        if let version = file.optional("version", as: Int.self), version != 1 {
            file.optional("version")?.report(
                "unknown version \(version) of the policy format; this program reads version 1")
        }
        revision.read(file)
        if let section = file.optional("tokens") { readTokens(section) }
        if let section = file.optional(CaptureReader.key) { readCapture(section) }
        if let section = file.optional("callers")?.mapping() { readCallers(section) }
        if let section = file.optional(DenyReader.key) {
            denials += DenyReader.read(section, count: &denialCount, apps: &deniedApps)
        }
        guard let section = file.optional("projects") else { return }
        guard let elements = section.elements() else {
            isWhole = false
            return
        }
        for project in elements where !sink.isOverfull { readProject(project) }
    }

    private mutating func readTokens(_ value: YAMLValue) {
        guard let section = value.mapping() else { return }
        defer { section.finish() }
        if let first = tokens {
            value.report(
                "the section `tokens` is in more than one place",
                related: [.init(location: first.location, message: "first here")])
        }
        var policy = TokenPolicy()
        if let value = section.optional("algorithm"), let name = value.decode(String.self) {
            if let algorithm = TokenPolicy.Algorithm(exactly: name) {
                policy.algorithm = algorithm
            } else {
                value.report("expected RS256 or ES256, found `\(name)`")
            }
        }
        if let value = section.optional("rsa_bits"), let bits = value.decode(Int.self) {
            if bits != 2048, bits != 3072 { value.report("expected 2048 or 3072, found \(bits)") }
            if policy.algorithm != .rs256 { value.report("has no effect with \(policy.algorithm.rawValue)") }
            policy.rsaBits = bits
        }
        tokens = (policy, value.location)
    }

    private mutating func readCapture(_ value: YAMLValue) {
        if let first = capture {
            value.report(
                "the section `\(CaptureReader.key)` is in more than one place",
                related: [.init(location: first.location, message: "first here")])
        }
        capture = (CaptureReader.read(value), value.location)
    }

    private mutating func readCallers(_ section: YAMLMapping) {
        for (entry, _) in section.all() {
            guard Identifiers.isCallerName(entry.key) else {
                section.report(
                    "a caller's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`", key: entry.key)
                continue
            }
            names.claim("the caller", entry.key, by: section, key: entry.key)
            guard let entry = resolvingIssuers(entry, in: section, key: "jwt") else { continue }
            callers.append(
                CallerPolicy(name: entry.key, section: PolicySection(entry, in: section.path, kernelKeys: [])))
        }
    }

    /// An entry in whose key each issuer that is named is put in the place of its name; nil for an unknown issuer, which is reported.
    private func resolvingIssuers(_ entry: YAMLEntry, in section: YAMLMapping, key: String) -> YAMLEntry? {
        let path = section.path.key(entry.key).key(key)
        var isKnown = true
        func resolved(_ node: YAMLNode, _ path: YAMLPath) -> YAMLNode {
            let found = issuers.resolved(YAMLValue(node, path: path, sink: sink))
            if found == nil { isKnown = false }
            return found ?? node
        }
        let value = entry.value.mapValues { inner in
            guard inner.key.isExactly(key) else { return inner.value }
            guard inner.value.elements != nil else { return resolved(inner.value, path) }
            return inner.value.mapElements { resolved($1, path.index($0)) }
        }
        return isKnown ? entry.replacing(value) : nil
    }

    private mutating func readProject(_ value: YAMLValue) {
        guard let section = value.mapping() else {
            isWhole = false
            return
        }
        guard value.node["project"] == nil else {
            additions.append(section)
            return
        }
        defer { section.finish() }
        let number = text(
            section, "number", "a project number: decimal digits without leading zeros", Identifiers.isProjectNumber)
        let id = text(section, "id", "a project ID such as example-project", Identifiers.isProjectID)
        var issuerPrefix = "https://firebaseappcheck.googleapis.com/"
        if let issuer = section.optional("issuer"), let prefix = issuer.decode(String.self) {
            if Identifiers.isIssuerPrefix(prefix) {
                issuerPrefix = prefix
            } else {
                issuer.report("expected an https URL that ends in a slash; the project's number follows it")
            }
        }
        if let number { names.claim("the project", number, by: section, key: "number") }
        if let id { names.claim("the project", id, by: section, key: "id") }
        let stage = StageReader.read(section, development: development)
        let project = OpenProject(
            identity: ProjectIdentity(number: number ?? "0", id: id ?? "unknown", stage: stage),
            issuerPrefix: issuerPrefix, isSound: !number.isNil && !id.isNil)
        if !project.isSound { isWhole = false }
        open.append(project)
        for name in [number, id].compactMap(\.self) where openByName[ExactText(name)] == nil {
            openByName[ExactText(name)] = project
        }
        let acceptsDevelopment = stage == .development
        let verification = section.optional("verification")?.mapping()
        projects.append(
            ProjectPolicy(
                identity: project.identity, issuerPrefix: issuerPrefix,
                acceptsDevelopment: verification.flatMap { DevelopmentSwitch.read($0, into: development) }
                    ?? acceptsDevelopment,
                consumption: verification.map { ConsumptionReader.read($0) } ?? .shared,
                services: section.optional("services")?.mapping().map {
                    ServiceReader.read($0, acceptsDevelopment: acceptsDevelopment, development: development)
                } ?? [],
                consumers: section.optional("consumers")?.mapping().map { readConsumers($0) } ?? [],
                location: value.location, node: value.node))
        verification?.finish()
        readResources(section, of: project)
    }

    /// Reads an entry that adds apps to a project of another place.
    private mutating func readAddition(_ section: YAMLMapping) {
        defer { section.finish() }
        for key in ["number", "id", "stage", "issuer", "verification", "services", "consumers"]
        where section.stated(key) != nil {
            section.report("belongs in the entry that defines the project", key: key)
        }
        guard let link = section.required("project"), let name = link.decode(String.self) else { return }
        let found = openByName[ExactText(name)]
        if found == nil, isWhole {
            link.report(
                "unknown project `\(name)`", hint: Spelling.hint(for: name, among: openByName.keys.map(\.string)))
        }
        readResources(
            section,
            // Its apps are read for their errors.
            of: found
                ?? OpenProject(
                    identity: ProjectIdentity(number: "0", id: "unknown"), issuerPrefix: "", isSound: false))
    }

    /// Reads the apps of a project, and keeps its OAuth clients until all apps are known.
    private mutating func readResources(_ section: YAMLMapping, of project: OpenProject) {
        if let value = section.optional("apps") {
            if let elements = value.elements() {
                for value in elements where !sink.isOverfull { readApp(value, of: project) }
            } else {
                project.knowsAllApps = false
            }
        }
        project.clientValues += section.optional("oauth_clients")?.elements() ?? []
    }

    private func readConsumers(_ section: YAMLMapping) -> [ConsumerPolicy] {
        section.all().compactMap { entry, _ in
            resolvingIssuers(entry, in: section, key: ConsumerKeys.actors).map { entry in
                ConsumerPolicy(
                    name: entry.key, section: PolicySection(entry, in: section.path, kernelKeys: ConsumerKeys.all))
            }
        }
    }

    /// A project while its apps are read, perhaps from several files.
    private final class OpenProject {
        let identity: ProjectIdentity
        let issuerPrefix: String
        /// Whether the identity has no errors.
        let isSound: Bool
        var apps: [AppPolicy] = []
        var appsByID: [ExactText: AppPolicy] = [:]
        /// Whether all apps are known, so that an unknown one does not exist.
        var knowsAllApps = true
        var clientValues: [YAMLValue] = []
        var clients: [AppPolicy] = []

        init(identity: ProjectIdentity, issuerPrefix: String, isSound: Bool) {
            self.identity = identity
            self.issuerPrefix = issuerPrefix
            self.isSound = isSound
        }
    }

    private mutating func readApp(_ stated: YAMLValue, of project: OpenProject) {
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

    private mutating func readClient(_ value: YAMLValue, of project: OpenProject) {
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
        guard let value = app.stated("providers"), !value.node.isNull else {
            (app.stated("providers") ?? app.value).warn(
                "\(what) has no providers: every call for it will be refused", into: warnings)
            return []
        }
        guard let section = value.mapping() else { return [] }
        let all = section.all()
        if all.isEmpty { value.warn("\(what) has no providers: every call for it will be refused", into: warnings) }
        return all.map { entry, value in
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
