internal import AssayCore
internal import AssayEngine
internal import AssayHosting
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// What an app's policy says of a method, and what a project's consumers and services say of its tokens.
extension PolicyView {
    func explainApp(
        _ app: App, _ method: MethodDescriptor, _ route: MethodRoute, _ explanation: inout CallExplanation
    ) {
        guard case .provider = route.target, let name = route.provider else { return }
        guard let provider = app.policy.providers.first(where: { $0.name.isExactly(name) }),
            method.resources.contains(app.policy.identity.kind)
        else {
            let names = app.policy.providers.map(\.name)
            let has = names.isEmpty ? "it has no providers" : "it has \(names.joined(separator: ", "))"
            explanation.add(
                .stops, "the app has not the provider \(name): FAILED_PRECONDITION; \(has)",
                at: app.policy.location(of: "providers") ?? app.policy.location)
            return
        }
        explanation.add(.passes, "the app has the provider \(name)", at: provider.section.location)
        if route.permission == nil { explainLimit(app.policy, &explanation) }
        guard case .exchange = method.kind else { return }
        explanation.add(.depends, "the provider verifies the evidence", at: provider.section.location)
        explainDenials(of: app, name, &explanation)
        explainRules(app, name, &explanation)
        explanation.add(
            .note,
            "tokens live \(Self.words(provider.tokenLifetime)), limited-use tokens \(Self.words(TokenLifetime.limitedUse))",
            at: provider.lifetimeLocation)
        explainUses(of: app.policy, name, &explanation)
    }

    private func explainLimit(_ app: AppPolicy, _ explanation: inout CallExplanation) {
        guard let limit = app.rateLimit else {
            explanation.add(.note, "calls are not limited")
            return
        }
        explanation.add(
            .depends,
            "at most \(limit.requests.counting("call")) in \(Self.words(limit.interval)), \(limit.burst) at once: RESOURCE_EXHAUSTED beyond",
            at: app.location(of: "rate_limit"))
    }

    private func explainRules(_ app: App, _ provider: String, _ explanation: inout CallExplanation) {
        let facts = factTypes[provider] ?? [:]
        for rule in app.policy.rules {
            let unknown = rule.facts.filter { facts[$0] == nil && !$0.isExactly(RuleSet.provider) }
            let never = unknown.isEmpty ? "" : "; \(provider) does not tell \(unknown.joined(separator: ", "))"
            explanation.add(
                rule.isShadow ? .note : .depends, "rule \(rule.name): \(rule.words)\(never)", at: rule.location)
        }
        if !app.policy.rules.isEmpty { explanation.add(.note, "evidence that no rule matches is accepted") }
    }

    /// What consumers and services do with tokens of the app.
    private func explainUses(of app: AppPolicy, _ provider: String, _ explanation: inout CallExplanation) {
        guard let project = projects["projects/\(app.identity.project.number)"] else { return }
        for consumer in project.consumers {
            guard let plugin = registry.consumers[consumer.name] else { continue }
            let demand = demand(of: consumer, plugin, in: project)
            let refusal = refusal(of: app.identity.subject, provider, in: project, demand)
            let verdict = refusal.map { "refuses them: \($0.code)" } ?? "accepts them\(demand.words)"
            explanation.add(.note, "consumer \(consumer.name) \(verdict)", at: consumer.demandLocation)
        }
        for service in project.services {
            let refusal = refusal(
                of: app.identity.subject, provider, in: project, development: service.acceptsDevelopment,
                oauthClients: service.acceptsOAuthClients)
            let verdict = refusal.map { "does not accept them: \($0.code)" } ?? "accepts them"
            explanation.add(
                .note, "service \(service.id) (\(service.enforcement.rawValue)) \(verdict)", at: service.location)
        }
    }

    func explainConsumers(
        _ plugins: [ConsumerPlugin], _ resource: String, _ caller: String?, _ explanation: inout CallExplanation
    ) {
        let found: [ProjectPolicy]
        switch find(resource) {
        case nil where resource.isEmpty: found = policies.projects
        case nil:
            let (what, hint) = unknown(resource)
            explanation.add(.stops, "\(what): refused consumer_unknown\(hint.map { "; \($0)" } ?? "")")
            return
        case .project(let project)?: found = [project]
        case .app(let app)?: found = projects["projects/\(app.policy.identity.project.number)"].map { [$0] } ?? []
        }
        var isFirst = true
        for project in found {
            for consumer in project.consumers {
                guard let plugin = plugins.first(where: { $0.descriptor.name.isExactly(consumer.name) }) else {
                    continue
                }
                isFirst = false
                if let view = caller.flatMap({ callers[$0] }), !view.caller.mayAct(in: project.identity) {
                    let isOnly = found.count == 1
                    explanation.add(
                        isOnly ? .stops : .note,
                        "the caller \(view.policy.name) may not act in the project \(project.identity.id)"
                            + (isOnly ? ": PERMISSION_DENIED" : ""), at: view.policy.section.location)
                    continue
                }
                explanation.add(
                    .passes, "the project \(project.identity.id) has the consumer \(consumer.name)",
                    at: consumer.section.location)
                let demand = demand(of: consumer, plugin, in: project)
                explainTokens(of: project, demand, consumer, &explanation)
                if plugin.allowsUnenforced {
                    explanation.add(
                        .note, "parts of the section may demand something else", at: consumer.section.location)
                }
            }
        }
        guard isFirst else { return }
        let names = plugins.map(\.descriptor.name).joined(separator: " or ")
        explanation.add(
            .stops, "the project has not the consumer \(names): refused consumer_unknown", at: found.first?.location)
    }

    /// Which tokens a consumer accepts.
    private func explainTokens(
        of project: ProjectPolicy, _ demand: TokenDemand, _ consumer: ConsumerPolicy,
        _ explanation: inout CallExplanation
    ) {
        explanation.add(.depends, "a valid App Check token is needed\(demand.words)", at: consumer.demandLocation)
        explainDenials(ofTokensIn: project.identity, &explanation)
        for app in policies.apps where app.identity.project.number.isExactly(project.identity.number) {
            for provider in app.providers {
                let refusal = refusal(of: app.identity.subject, provider.name, in: project, demand)
                explanation.add(
                    .note,
                    "tokens of \(app.identity.subject) by \(provider.name): \(refusal.map { "refused \($0.code)" } ?? "accepted")",
                    at: provider.section.location)
            }
        }
    }

    private func refusal(
        of subject: String, _ provider: String, in project: ProjectPolicy, _ demand: TokenDemand
    ) -> Reason? {
        let refusal = refusal(
            of: subject, provider, in: project, development: demand.acceptsDevelopment,
            oauthClients: demand.acceptsOAuthClients || demand.apps != nil)
        if let refusal { return refusal }
        if let providers = demand.providers, !providers.contains(provider) {
            return KernelReasons.tokenProviderNotAllowed
        }
        if let apps = demand.apps, !apps.contains(subject) { return KernelReasons.tokenAppNotAllowed }
        return nil
    }

    private static func words(_ duration: Duration) -> String { EffectiveValue.words(duration) }
}

extension TokenDemand {
    /// What is demanded beyond a valid token: `, for limited use, at most 10m old`.
    fileprivate var words: String {
        var words: [String] = []
        if requiresLimitedUse { words.append("for limited use") }
        if let maximumAge { words.append("at most \(EffectiveValue.words(maximumAge)) old") }
        if replayProtection == .enforced { words.append("not used before") }
        return words.map { ", \($0)" }.joined()
    }
}

extension ConsumerPolicy {
    /// The place of the demand on tokens, or of the section where it is absent.
    fileprivate var demandLocation: SourceLocation {
        section.location(of: ConsumerKeys.tokens) ?? section.location
    }
}
