internal import AssayCore
package import AssayKit
package import AssayPolicy
package import AssayYAML

extension Registry {
    /// The problem of a section whose plugin is not there: unknown, or known and not to be had here.
    package func missing(_ kind: PluginKind, _ name: String, in section: PolicySection) -> Diagnostics {
        if let reason = unavailable(kind, name) {
            return section.diagnostics("the \(kind.rawValue) `\(name)` is unavailable: \(reason)")
        }
        let missing = unavailable.filter { $0.kind == kind }.map(\.name)
        return switch kind {
        case .provider: section.unknownProvider(known: providers.keys.map(\.string) + missing)
        case .consumer: section.unknownConsumer(known: consumers.keys.map(\.string) + missing)
        // Policies name neither of them.
        case .store, .sink, .vault: section.diagnostics("unknown \(kind.rawValue) `\(name)`")
        }
    }
}
