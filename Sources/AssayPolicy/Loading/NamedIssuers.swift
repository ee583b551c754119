internal import AssayCore
internal import AssayYAML

/// The section `issuers`: issuers of JWTs by name, for every place that would describe them.
final class NamedIssuers {
    static let section = RootSection.CodingKeys.issuers.stringValue
    private static let longestChain = 16

    private var issuers: [ExactText: YAMLEntry] = [:]
    private var used: Set<ExactText> = []
    private let check = MergeCheck(base: "the issuer", warnings: DiagnosticSink())
    /// Whether all issuers are known, so that an unknown one does not exist.
    var isWhole = true

    /// Takes the issuers of one file.
    func add(_ section: YAMLMapping) {
        for (entry, value) in section.all() {
            guard Identifiers.isCallerName(entry.key) else {
                section.report("an issuer's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`", key: entry.key)
                continue
            }
            if let first = issuers[ExactText(entry.key)] {
                section.report(
                    "the issuer `\(entry.key)` is defined twice", key: entry.key,
                    related: [.init(location: first.keyLocation, message: "first defined here")])
                continue
            }
            _ = value.mapping()
            issuers[ExactText(entry.key)] = entry
        }
    }

    /// The issuer that a value describes: by its own keys, by a name, or by keys over those of the issuer that `extends` names.
    ///
    /// Nil for an unknown name, which is reported.
    func resolved(_ value: YAMLValue) -> YAMLNode? { resolved(value, depth: 0) }

    private func resolved(_ value: YAMLValue, depth: Int) -> YAMLNode? {
        switch value.node.content {
        case .scalar:
            guard !value.node.isNull else { return value.node }
            return find(value, depth: depth)
        case .mapping:
            let own = value.node.without([Profiles.extends])
            guard let link = value.member(Profiles.extends) else { return own }
            guard let found = find(link, depth: depth) else { return nil }
            check.report(own, over: found, at: value.path, to: value.sink)
            return own.merged(over: found)
        case .sequence: return value.node
        }
    }

    private func find(_ link: YAMLValue, depth: Int) -> YAMLNode? {
        guard depth < Self.longestChain else {
            link.report("more than \(Self.longestChain) issuers build on each other, or one on itself")
            return nil
        }
        guard let name = link.decode(String.self) else { return nil }
        guard let entry = issuers[ExactText(name)] else {
            if isWhole {
                link.report(
                    "unknown issuer `\(name)`", hint: Spelling.hint(for: name, among: issuers.keys.map(\.string)))
            }
            return nil
        }
        used.insert(ExactText(name))
        let path = YAMLPath.root.key(Self.section).key(name)
        return resolved(YAMLValue(entry.value, path: path, sink: link.sink), depth: depth + 1)
    }

    /// Warns of the issuers that nothing uses, and of what their use does not do.
    func reportUnused(to warnings: DiagnosticSink) {
        if let found = check.warnings.diagnostics { warnings.report(found) }
        for (name, entry) in issuers where !used.contains(name) {
            warnings.report(
                entry.diagnostic(
                    "nothing uses this issuer, so it is not checked", in: YAMLPath.root.key(Self.section),
                    severity: .warning))
        }
    }
}
