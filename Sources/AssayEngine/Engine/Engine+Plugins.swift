internal import AssayCore
public import AssayKit

extension Engine {
    /// The health of every plugin of the registry: what the operators' pages show.
    ///
    /// A provider or a consumer is also `failing` from when one of its instances kept failing, or kept answering that it cannot
    /// decide, until a call of it succeeds.
    public var pluginHealth: [PluginHealth] {
        let failingOnes = snapshot.policies.failingInstances
        guard !failingOnes.isEmpty else { return registry.health }
        return registry.health.map { health in
            guard health.state == .ready, health.kind == .provider || health.kind == .consumer,
                let places = failingOnes[ExactText(health.name)]
            else { return health }
            var reason = "its calls kept failing, for \(places.prefix(3).joined(separator: ", "))"
            if places.count > 3 { reason += " and \(places.count - 3) more" }
            return PluginHealth(
                health.kind, health.name, version: health.version, state: .failing, reason: PlainText.line(reason))
        }
    }

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

extension BoundPolicies {
    /// The resources whose instances of a plugin kept failing, or deciding nothing, and had no success since; by the plugin's name.
    ///
    /// Instances of policies that were replaced are none of them.
    fileprivate var failingInstances: [ExactText: [String]] {
        var found: [ExactText: Set<ExactText>] = [:]
        // An app is there under each of its names.
        for app in apps.values {
            for provider in app.providers.values where provider.breaker.isFailing {
                found[ExactText(provider.descriptor.name), default: []].insert(app.name)
            }
        }
        for consumer in consumers.everywhere where consumer.breaker.isFailing {
            found[ExactText(consumer.descriptor.name), default: []].insert(ExactText(consumer.project.name))
        }
        return found.mapValues { names in names.map(\.string).sortedExactly() }
    }
}
