internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Callers, projects, and the entries that add apps to a project of another place.
extension PolicyLoader {
    mutating func readCallers(_ section: YAMLMapping) {
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
    func resolvingIssuers(_ entry: YAMLEntry, in section: YAMLMapping, key: String) -> YAMLEntry? {
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

    mutating func readProject(_ value: YAMLValue) {
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
                    ServiceReader.read(
                        $0, acceptsDevelopment: acceptsDevelopment, development: development, warnings: warnings)
                } ?? [],
                consumers: section.optional("consumers")?.mapping().map { readConsumers($0) } ?? [],
                location: value.location, node: value.node))
        verification?.finish()
        readResources(section, of: project)
    }

    /// Reads an entry that adds apps to a project of another place.
    mutating func readAddition(_ section: YAMLMapping) {
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
    final class OpenProject {
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
}
