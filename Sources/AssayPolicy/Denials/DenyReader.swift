package import AssayCore
internal import AssayKit
package import AssayYAML

/// Reads entries of the deny list: those of the section `deny`, and those that administrators add through the API.
package enum DenyReader {
    /// The most entries of a set of policies.
    static let entryLimit = 10_000
    private static let conditionLimit = 16

    /// Reads the section.
    ///
    /// - Parameters:
    ///   - count: how many entries the files have so far.
    ///   - apps: collects the apps that entries name, which are known later.
    static func read(_ section: YAMLValue, count: inout Int, apps: inout [YAMLValue]) -> [DenyPolicy] {
        guard let elements = section.elements() else { return [] }
        count += elements.count
        guard count <= entryLimit else {
            section.report("the deny list has at most \(entryLimit) entries")
            return []
        }
        return elements.compactMap { element in
            guard let entry = element.mapping() else { return nil }
            if let app = entry.optional("app") { apps.append(app) }
            return read(entry, place: "\(element.location)")
        }
    }

    /// Reads an entry that an administrator added.
    ///
    /// - Parameters:
    ///   - match: the facts or the `jti`, as JSON, which is YAML.
    ///   - name: the name of the entry.
    /// - Throws: what is wrong.
    package static func read(
        match: [UInt8], app: String?, project: String, until: Instant?, note: String?, name: String
    ) throws(Diagnostics) -> DenyPolicy {
        let sink = DiagnosticSink()
        let value = YAMLValue(try YAMLDocument.parse(match, file: "match"), sink: sink)
        let section = value.mapping()
        for key in DenySection.CodingKeys.names.dropFirst() where section?.stated(key) != nil {
            section?.report("is no fact: it belongs beside `match`", key: key)
        }
        let found = section.flatMap { section in
            section.decode(DenySection.self).flatMap { subject(section, $0) }
        }
        try sink.throwIfAny()
        guard let found else { throw Diagnostics(value.node.diagnostic("cannot be read", path: .root)) }
        return DenyPolicy(
            subject: found, app: app, project: project, until: until, note: note, place: name, node: value.node,
            path: .root)
    }

    private static func read(_ section: YAMLMapping, place: String) -> DenyPolicy? {
        guard let own = section.decode(DenySection.self), let subject = subject(section, own) else { return nil }
        return DenyPolicy(
            subject: subject, app: own.app?.value, project: nil, until: own.until?.value, note: own.note?.value,
            place: place, node: section.value.node, path: section.path)
    }

    /// What an entry refuses: all keys that are not its own are facts.
    private static func subject(_ section: YAMLMapping, _ own: DenySection) -> DenyPolicy.Subject? {
        let facts = section.rest()
        if let token = own.token {
            for fact in facts {
                section.report("an entry has either `jti` or facts, not both", key: fact.key)
            }
            return token.value.map { .token(ExactText($0)) }
        }
        guard !facts.isEmpty else {
            section.value.report(
                "an entry needs `jti` or a fact, such as `key_id`: otherwise it would refuse everything")
            return nil
        }
        if facts.count > conditionLimit { section.value.report("an entry has at most \(conditionLimit) facts") }
        return .facts(
            facts.prefix(conditionLimit).map { entry in
                RulePolicy.Condition(
                    entry, YAMLValue(entry.value, path: section.path.key(entry.key), sink: section.value.sink),
                    in: section.path)
            })
    }
}
