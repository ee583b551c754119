package import AssayCore
internal import AssayEngine
internal import AssayHosting
internal import AssayKit
package import AssayPolicy
package import AssayYAML

/// What policies do to a call, step by step, each with the place that says so.
package struct CallExplanation: Sendable {
    /// What a step means for the call.
    package enum Effect: String, Sendable {
        /// The call passes.
        case passes
        /// The call ends here.
        case stops
        /// It depends on what the call brings.
        case depends
        /// For information.
        case note
    }

    /// One step.
    package struct Step: Sendable {
        package let effect: Effect
        @Exact package private(set) var text: String
        package let location: SourceLocation?
    }

    package private(set) var steps: [Step] = []

    /// Whether the call ends before anything of it is verified.
    package var isStopped: Bool { steps.contains { $0.effect == .stops } }

    mutating func add(_ effect: Effect, _ text: String, at location: SourceLocation? = nil) {
        steps.append(Step(effect: effect, text: text, location: location))
    }
}

extension Registry {
    /// Explains a call of a method on a resource.
    ///
    /// - Parameters:
    ///   - caller: the policy's name for the caller; nil for a call without credentials.
    ///   - policies: as ``effective(_:)`` makes them, and without problems.
    package func explain(
        _ method: String, on resource: String, by caller: String?, in policies: PolicySet
    ) -> CallExplanation {
        PolicyView(policies, registry: self).explain(method, resource, caller)
    }
}

extension PolicyView {
    fileprivate func explain(_ name: String, _ resource: String, _ caller: String?) -> CallExplanation {
        var explanation = CallExplanation()
        guard let method = registry.methods.first(where: { $0.name.isExactly(name) }), let route = registry.routes[name]
        else {
            let hint = Spelling.hint(for: name, among: registry.methods.map(\.name)).map { "; \($0)" } ?? ""
            explanation.add(.stops, "unknown method `\(name)`\(hint)")
            return explanation
        }
        explanation.add(.note, "method \(name): \(words(for: method, route))")
        explainCaller(caller, route.permission, &explanation)
        if explanation.isStopped { return explanation }
        switch route.target {
        case .keySet: explanation.add(.passes, "the key set is served to everyone")
        case .consumer(let plugin): explainConsumers([plugin], resource, caller, &explanation)
        case .tokenExchange:
            let all = registry.consumers.values.filter(\.exchangesTokens)
            explainConsumers(
                all.sorted { $0.descriptor.name.precedesExactly($1.descriptor.name) }, resource, caller, &explanation)
        case .kernel, .provider: explainResource(method, route, resource, caller, &explanation)
        }
        return explanation
    }

    private func words(for method: MethodDescriptor, _ route: MethodRoute) -> String {
        let owner =
            switch route.target {
            case .consumer(let plugin): "the consumer \(plugin.descriptor.name)"
            case .kernel, .keySet, .tokenExchange: "the kernel"
            case .provider: "the provider \(route.provider ?? "")"
            }
        let kind =
            switch method.kind {
            case .challenge: "issues a challenge"
            case .exchange: "exchanges evidence for a token"
            case .keySet: "publishes the keys that verify tokens"
            case .call: "answers a call"
            case .notOffered: "is not offered"
            }
        return "\(owner) \(kind)"
    }

    private func explainCaller(_ name: String?, _ permission: Permission?, _ explanation: inout CallExplanation) {
        guard let permission else {
            explanation.add(.passes, "no permission is needed\(name.isNil ? "" : ": who calls does not matter")")
            return
        }
        let able = callers.values.filter { $0.caller.has(permission) }
            .sorted { $0.policy.name.precedesExactly($1.policy.name) }
        if let name {
            guard let found = callers[name] else {
                let hint = Spelling.hint(for: name, among: callers.keys.map(\.string)).map { "; \($0)" } ?? ""
                explanation.add(.stops, "unknown caller `\(name)`: UNAUTHENTICATED\(hint)")
                return
            }
            let has = found.caller.has(permission)
            explanation.add(
                has ? .passes : .stops,
                "the caller \(name) \(has ? "has" : "lacks") the permission \(permission)\(has ? "" : ": PERMISSION_DENIED")",
                at: found.policy.section.location)
        } else if able.isEmpty {
            explanation.add(.stops, "the permission \(permission) is needed, and no caller has it")
        } else {
            explanation.add(.depends, "the permission \(permission) is needed: name one of these callers with --caller")
        }
        guard name.isNil || explanation.isStopped else { return }
        for view in able {
            let projects = view.configuration.projects.map { "in \($0.joined(separator: ", "))" } ?? "in all projects"
            explanation.add(
                .note, "the caller \(view.policy.name) has it, \(projects)", at: view.policy.section.location)
        }
    }

    private func explainResource(
        _ method: MethodDescriptor, _ route: MethodRoute, _ resource: String, _ caller: String?,
        _ explanation: inout CallExplanation
    ) {
        let limited = route.permission.flatMap { _ in caller }.flatMap { callers[$0] }
            .flatMap { view in view.configuration.projects.map { _ in view } }
        guard let found = find(resource) else {
            explainUnknown(resource, limiting: limited, &explanation)
            return
        }
        if let limited, !limited.caller.mayAct(in: found.project) {
            explanation.add(
                .stops,
                "the caller \(limited.policy.name) may not act in the project \(found.project.id): PERMISSION_DENIED",
                at: limited.policy.section.location)
            return
        }
        switch found {
        case .app(let app):
            explanation.add(.passes, "\(resource) is \(app.policy.identity.kind.words)", at: app.policy.location)
            explainApp(app, method, route, &explanation)
        case .project(let project):
            explanation.add(.passes, "\(resource) is a project", at: project.location)
            if case .call(.verifyTokens) = method.kind {
                explainDenials(ofTokensIn: project.identity, &explanation)
            }
        }
        guard !explanation.isStopped, !method.resources.contains(found.kind) else { return }
        let kinds = method.resources.map(\.words).sortedExactly().joined(separator: " or ")
        explanation.add(.stops, "the method is for \(kinds.isEmpty ? "no resource" : kinds): INVALID_ARGUMENT")
    }
}

extension ResourceKind {
    var words: String {
        switch self {
        case .app: "an app"
        case .oauthClient: "an OAuth client"
        case .project: "a project"
        }
    }
}
