internal import AssayCore
public import AssayKit

extension Engine {
    /// The health of every plugin of the registry: what the operators' pages show.
    ///
    /// A provider or a consumer is also `failing` while one of its instances says that something is wrong, and from when one kept
    /// failing, or kept answering that it cannot decide, until a call of it succeeds.
    public var pluginHealth: [PluginHealth] {
        let problems = snapshot.policies.problems
        guard !problems.isEmpty else { return registry.health }
        return registry.health.map { health in
            guard health.state == .ready, health.kind == .provider || health.kind == .consumer,
                let found = problems[ExactText(health.name)]
            else { return health }
            return PluginHealth(
                health.kind, health.name, version: health.version, state: .failing, reason: PlainText.line(found))
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
    /// What is wrong with instances of plugins, with the resources that they are for; by the plugin's name.
    ///
    /// Instances of policies that were replaced are none of them.
    fileprivate var problems: [ExactText: String] {
        var found: [ExactText: [ExactText: Set<ExactText>]] = [:]
        func add(_ plugin: PluginDescriptor, _ breaker: CircuitBreaker, _ own: String?, _ place: ExactText) {
            for problem in [breaker.isFailing ? "its calls kept failing" : nil, own].compactMap(\.self) {
                found[ExactText(plugin.name), default: [:]][ExactText(problem), default: []].insert(place)
            }
        }
        // An app is there under each of its names.
        for app in apps.values {
            for provider in app.providers.values {
                add(provider.descriptor, provider.breaker, provider.problem(), app.name)
            }
        }
        for consumer in consumers.everywhere {
            add(consumer.descriptor, consumer.breaker, consumer.instance.problem(), ExactText(consumer.project.name))
        }
        return found.mapValues { Self.words($0) }
    }

    private static func words(_ problems: [ExactText: Set<ExactText>]) -> String {
        let sorted = problems.map { (text: $0.key.string, places: $0.value.map(\.string).sortedExactly()) }
            .sorted { $0.text.precedesExactly($1.text) }
        return sorted.prefix(3).map { problem in
            let more = problem.places.count > 3 ? " and \(problem.places.count - 3) more" : ""
            return "\(problem.text), for \(problem.places.prefix(3).joined(separator: ", "))\(more)"
        }.joined(separator: "; ")
    }
}
