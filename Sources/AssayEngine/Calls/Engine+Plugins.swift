internal import AssayCore
public import AssayHosting

extension Engine {
    /// The health of every plugin of the registry: what the operators' pages show.
    public var pluginHealth: [PluginHealth] { registry.health }

    /// Degraded while the calls of a plugin fail.
    ///
    /// A plugin that could not be made is none of it: no policy in force names it.
    var pluginReadiness: Readiness {
        let failing = pluginHealth.filter { $0.state == .failing }
        guard !failing.isEmpty else { return .ready }
        let texts = failing.map { "the \($0.kind.rawValue) \($0.name) fails: \($0.reason ?? "")" }
        return .degraded(texts.joined(separator: "; "))
    }
}
