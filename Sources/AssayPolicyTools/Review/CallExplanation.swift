package import AssayCore
internal import AssayEngine
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

/// The call that is explained.
package struct ExplainedCall: Sendable {
    /// The name of the method.
    @Exact package private(set) var method: String
    /// The resource; empty for none.
    @Exact package private(set) var resource: String
    /// The policy's name for the caller; nil for a call without credentials.
    @Exact package private(set) var caller: String?
    /// The fields of the request message that are known, an object.
    package let fields: JSON

    package init(_ method: String, on resource: String, by caller: String? = nil, fields: JSON = [:]) {
        self.method = method
        self.resource = resource
        self.caller = caller
        self.fields = fields
    }
}

extension Registry {
    /// Explains a call.
    ///
    /// - Parameter policies: as ``effective(_:)`` makes them.
    /// - Throws: the problems of the policies.
    package func explain(_ call: ExplainedCall, in policies: PolicySet) throws(Diagnostics) -> CallExplanation {
        try PolicyView(policies, registry: self).explain(call)
    }
}

extension PolicyView {
    /// Explains a call.
    func explain(_ call: ExplainedCall) -> CallExplanation {
        var explanation = CallExplanation()
        guard let method = registry.methods.first(where: { $0.name.isExactly(call.method) }),
            let route = registry.routes[call.method]
        else {
            let hint = Spelling.hint(for: call.method, among: registry.methods.map(\.name)).map { "; \($0)" } ?? ""
            explanation.add(.stops, "unknown method `\(call.method)`\(hint)")
            return explanation
        }
        explanation.add(.note, "method \(method.name): \(words(for: method, route))")
        explainCaller(call.caller, route.permission, &explanation)
        if explanation.isStopped { return explanation }
        // Where no permission is needed, it does not matter who calls.
        let view = route.permission.flatMap { _ in call.caller }.flatMap { callers[$0] }
        switch route.target {
        case .keySet: explanation.add(.passes, "it is served to everyone")
        case .consumer(let plugin): explainConsumers([plugin], call, by: view, &explanation)
        case .tokenExchange:
            let all = registry.consumers.values.filter(\.exchangesTokens)
            explainConsumers(
                all.sorted { $0.descriptor.name.precedesExactly($1.descriptor.name) }, call, by: view, &explanation)
        case .kernel, .provider: explainResource(method, route, call.resource, view, &explanation)
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
            case .keySet: "publishes what verifiers of tokens read"
            case .call: "answers a call"
            case .notOffered: "is not offered"
            case .unset: "shows the settings of a provider that is not there"
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
            if let end = found.configuration.end, end <= now {
                explanation.add(
                    .stops, "all tokens of the caller \(name) have ended, the last at \(end): UNAUTHENTICATED",
                    at: found.policy.section.location)
                return
            }
            let has = found.caller.refusal(needing: permission) == nil
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
        _ method: MethodDescriptor, _ route: MethodRoute, _ resource: String, _ view: CallerView?,
        _ explanation: inout CallExplanation
    ) {
        let admission = bound.admit(method.name, route, to: resource, by: view?.caller)
        guard let found = bound.find(resource) else {
            explainUnknown(resource, limiting: view, &explanation)
            return
        }
        if let view, view.caller.refusal(in: found.project) != nil {
            explanation.add(
                .stops,
                "the caller \(view.policy.name) may not act in the project \(found.project.id): PERMISSION_DENIED",
                at: view.policy.section.location)
            return
        }
        switch found {
        case .app(let app):
            explanation.add(.passes, "\(resource) is \(app.identity.kind.words)", at: app.location)
            if let policy = apps[app.identity.resource] { explainApp(app, policy, admission, route, &explanation) }
        case .project(let project):
            explanation.add(.passes, "\(resource) is a project", at: project.location)
            if case .call(.verifyTokens) = method.kind {
                explainTokens(of: project, project.verificationDemand, &explanation)
            }
        }
        guard !explanation.isStopped, case .ended = admission else { return }
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
