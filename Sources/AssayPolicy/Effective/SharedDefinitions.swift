internal import AssayCore
package import AssayYAML

/// The parts of policies that say once what several apps share, for the origin of a value.
package struct SharedDefinitions: Sendable {
    private struct Definition: Sendable {
        let name: String
        let start: SourceLocation
        let end: SourceLocation
    }

    /// For each file, in the order of the text.
    private var definitions: [ExactText: [Definition]] = [:]

    package init(_ policies: PolicySet) {
        for root in policies.roots {
            for section in root.entries ?? [] {
                guard let word = Self.word(for: section.key) else { continue }
                for entry in section.value.entries ?? [] {
                    let (start, end) = (entry.keyLocation, entry.value.endLocation)
                    definitions[ExactText(start.file), default: []].append(
                        Definition(name: "\(word) \(entry.key)", start: start, end: end))
                }
            }
        }
        for file in definitions.keys { definitions[file]?.sort { $0.start < $1.start } }
    }

    /// What the entries of a key of the root are called; nil for a key without shared parts.
    private static func word(for key: String) -> String? {
        if key.isExactly(Profiles.section) { return "profile" }
        if key.isExactly(NamedIssuers.section) { return "issuer" }
        return RootSection.CodingKeys.names.contains(exactly: key) ? nil : EffectiveValue.shown(key)
    }

    /// The shared part that a place is in, such as `profile ios`; nil when it is in none.
    package func name(of location: SourceLocation) -> String? {
        let all = definitions[location.file] ?? []
        return all.last { $0.start <= location && location < $0.end }.map { EffectiveValue.shown($0.name) }
    }
}
