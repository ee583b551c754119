internal import AssayCore
internal import AssayYAML

/// The section `profiles`: parts of apps' sections, by name, that apps and other profiles build on.
final class Profiles {
    /// The key of an app that names its profile.
    static let key = AppSection.CodingKeys.profile.stringValue
    static let section = RootSection.CodingKeys.profiles.stringValue
    /// The key of a profile, or of an issuer, that names the one it builds on.
    static let extends = "extends"
    /// What makes an app this app.
    static let ownKeys = [AppSection.CodingKeys.id, .name, .profile].map(\.stringValue)
    private static let longestChain = 16

    private struct Profile {
        let entry: YAMLEntry
        let value: YAMLValue
    }

    private var profiles: [ExactText: Profile] = [:]
    private var resolved: [ExactText: YAMLNode] = [:]
    private var used: Set<ExactText> = []
    private let check = MergeCheck(base: "the profile", warnings: DiagnosticSink(), ownKeys: Profiles.ownKeys)
    /// Whether all profiles are known, so that an unknown one does not exist.
    var isWhole = true

    var isEmpty: Bool { profiles.isEmpty }

    /// Takes the profiles of one file.
    func add(_ section: YAMLMapping) {
        for (entry, value) in section.all() {
            guard Identifiers.isCallerName(entry.key) else {
                section.report("a profile's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`", key: entry.key)
                continue
            }
            if let first = profiles[ExactText(entry.key)] {
                section.report(
                    "the profile `\(entry.key)` is defined twice", key: entry.key,
                    related: [.init(location: first.entry.keyLocation, message: "first defined here")])
                continue
            }
            profiles[ExactText(entry.key)] = Profile(entry: entry, value: value)
            for wrong in value.mapping()?.all() ?? [] where Self.ownKeys.contains(exactly: wrong.entry.key) {
                let hint = wrong.entry.key.isExactly(Self.key) ? "did you mean `\(Self.extends)`?" : nil
                value.sink.report(
                    wrong.entry.diagnostic("belongs to an app, not to a profile", in: value.path, hint: hint))
            }
        }
    }

    /// An app with its profile beneath it; the app itself, if it names none, or an unknown one, which is reported.
    func applied(to app: YAMLValue) -> YAMLValue {
        guard let link = app.member(Self.key), let profile = find(link, chain: []) else { return app }
        check.report(app.node, over: profile, at: app.path, to: app.sink)
        return YAMLValue(app.node.merged(over: profile), path: app.path, sink: app.sink)
    }

    /// Warns of the profiles that nothing uses, and of what their use does not do.
    func reportUnused(to warnings: DiagnosticSink) {
        if let found = check.warnings.diagnostics { warnings.report(found) }
        for (name, profile) in profiles where !used.contains(name) {
            let path = YAMLPath.root.key(Self.section)
            warnings.report(
                profile.entry.diagnostic(
                    "no app uses this profile, so it is not checked", in: path, severity: .warning))
        }
    }

    /// The profile that a value names, with what it builds on beneath it.
    private func find(_ link: YAMLValue, chain: [ExactText]) -> YAMLNode? {
        guard let text = link.decode(String.self) else { return nil }
        var name = ExactText(text)
        if profiles[name] == nil {
            guard isWhole else { return nil }
            let names = profiles.keys.map(\.string).sortedExactly()
            link.report("unknown profile `\(text)`", hint: Spelling.hint(for: text, among: names))
            // The profile that was meant keeps away errors that are none, such as keys that the app would lack.
            guard let meant = Spelling.suggestion(for: text, among: names) else { return nil }
            name = ExactText(meant)
        }
        guard let profile = profiles[name] else { return nil }
        used.insert(name)
        if let known = resolved[name] { return known }
        let chain = chain + [name]
        if let start = chain.dropLast().firstIndex(of: name) {
            link.report(
                "the profile builds on itself: \(chain[start...].map { "`\($0)`" }.joined(separator: ", then "))")
            return nil
        }
        guard chain.count <= Self.longestChain else {
            link.report("more than \(Self.longestChain) profiles build on each other")
            return nil
        }
        let own = profile.value.node.without([Self.extends] + Self.ownKeys)
        var node = own
        if let link = profile.value.member(Self.extends), let found = find(link, chain: chain) {
            check.report(own, over: found, at: profile.value.path, to: profile.value.sink)
            node = own.merged(over: found)
        }
        resolved[name] = node
        return node
    }
}
