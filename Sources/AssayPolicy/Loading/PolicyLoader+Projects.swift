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
        guard value.node[ProjectAdditionSection.CodingKeys.project.stringValue] == nil else {
            additions.append(section)
            return
        }
        defer { section.finish() }
        guard let keys = section.decode(ProjectSection.self) else { return }
        let (number, id, stage) = (keys.number.value, keys.id.value, keys.stage?.value ?? .production)
        if let number {
            names.claim("the project", number, by: section, key: ProjectSection.CodingKeys.number.stringValue)
        }
        if let id { names.claim("the project", id, by: section, key: ProjectSection.CodingKeys.id.stringValue) }
        let project = OpenProject(
            identity: ProjectIdentity(number: number ?? "0", id: id ?? "unknown", stage: stage),
            issuerPrefix: keys.issuer?.value ?? ProjectSection.defaultIssuer, isSound: !number.isNil && !id.isNil)
        if !project.isSound { isWhole = false }
        open.append(project)
        for name in [number, id].compactMap(\.self) where openByName[ExactText(name)] == nil {
            openByName[ExactText(name)] = project
        }
        let acceptsDevelopment = stage == .development
        let verification = keys.verification?.value
        projects.append(
            ProjectPolicy(
                identity: project.identity, issuerPrefix: project.issuerPrefix,
                acceptsDevelopment: verification?.acceptsDevelopment?.value ?? acceptsDevelopment,
                consumption: verification?.consumption?.value ?? .shared,
                services: keys.services?.value(sink)?.mapping().map {
                    ServiceSection.read($0, acceptsDevelopment: acceptsDevelopment, warnings: warnings)
                } ?? [],
                consumers: keys.consumers?.value(sink)?.mapping().map { readConsumers($0) } ?? [],
                location: value.location, node: value.node))
        lint.check(
            at: YAMLValue(value.node, path: value.path, sink: development), as: ProjectSection.self,
            without: [ProjectSection.CodingKeys.consumers, .apps, .clients].map(\.stringValue))
        readResources(keys.apps, keys.clients, of: project)
    }

    /// Reads an entry that adds apps to a project of another place.
    mutating func readAddition(_ section: YAMLMapping) {
        defer { section.finish() }
        let known = ProjectAdditionSection.CodingKeys.names
        for key in ProjectSection.CodingKeys.names where !known.contains(exactly: key) && section.stated(key) != nil {
            section.report("belongs in the entry that defines the project", key: key)
        }
        guard let keys = section.decode(ProjectAdditionSection.self), let name = keys.project.value else { return }
        let found = openByName[ExactText(name)]
        if found == nil, isWhole {
            section.optional(ProjectAdditionSection.CodingKeys.project.stringValue)?.report(
                "unknown project `\(name)`", hint: Spelling.hint(for: name, among: openByName.keys.map(\.string)))
        }
        readResources(
            keys.apps, keys.clients,
            // Its apps are read for their errors.
            of: found
                ?? OpenProject(
                    identity: ProjectIdentity(number: "0", id: "unknown"), issuerPrefix: "", isSound: false))
    }

    /// Reads the apps of a project, and keeps its OAuth clients until all apps are known.
    private mutating func readResources(
        _ apps: Undecoded<[AppSection]>?, _ clients: Undecoded<[OAuthClientSection]>?, of project: OpenProject
    ) {
        if let value = apps?.value(sink) {
            if let elements = value.elements() {
                for value in elements where !sink.isOverfull { readApp(value, of: project) }
            } else {
                project.knowsAllApps = false
            }
        }
        project.clientValues += clients?.value(sink)?.elements() ?? []
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
