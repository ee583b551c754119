package import AssayCore
internal import AssayKit
package import AssayYAML

/// Reads entries of the deny list: those of the section `deny`, and those that administrators add through the API.
package enum DenyReader {
    static let key = "deny"
    /// The most entries of a set of policies.
    static let entryLimit = 10_000
    private static let noteLimit = 200
    private static let conditionLimit = 16
    /// The keys of an entry that are no facts.
    static let ownKeys = ["jti", "app", "until", "note"]

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
        for key in ownKeys.dropFirst() where section?.stated(key) != nil {
            section?.report("is no fact: it belongs beside `match`", key: key)
        }
        let found = section.flatMap { Self.subject($0) }
        try sink.throwIfAny()
        guard let found else { throw Diagnostics(value.node.diagnostic("cannot be read", path: .root)) }
        return DenyPolicy(
            subject: found, app: app, project: project, until: until, note: note, place: name, node: value.node,
            path: .root)
    }

    private static func read(_ section: YAMLMapping, place: String) -> DenyPolicy? {
        let app = section.optional("app", as: String.self)
        let until = section.optional("until", as: Instant.self)
        var note = section.optional("note", as: String.self)
        if let text = note, text.utf8.count > noteLimit {
            section.report("a note has at most \(noteLimit) bytes", key: "note")
            note = nil
        }
        guard let subject = subject(section) else { return nil }
        return DenyPolicy(
            subject: subject, app: app, project: nil, until: until, note: note, place: place,
            node: section.value.node, path: section.path)
    }

    /// What an entry refuses: all keys that are not its own are facts.
    private static func subject(_ section: YAMLMapping) -> DenyPolicy.Subject? {
        let token = section.optional("jti")
        let facts = section.rest()
        if let token {
            for fact in facts {
                section.report("an entry has either `jti` or facts, not both", key: fact.key)
            }
            guard let id = token.decode(String.self) else { return nil }
            guard (1...1024).contains(id.utf8.count) else {
                token.report("a `jti` has 1 to 1024 bytes")
                return nil
            }
            return .token(ExactText(id))
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
