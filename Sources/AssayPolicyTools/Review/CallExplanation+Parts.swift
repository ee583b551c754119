internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// What an app's policy says of a method, and what a project's consumers and services say of its tokens.
extension PolicyView {
    func explainApp(
        _ app: AppBinding, _ policy: AppPolicy, _ admission: CallAdmission, _ route: MethodRoute,
        _ explanation: inout CallExplanation
    ) {
        guard case .provider = route.target, let name = route.provider else { return }
        guard case .provider(_, let method) = admission else {
            let names = policy.providers.map(\.name)
            let has = names.isEmpty ? "it has no providers" : "it has \(names.joined(separator: ", "))"
            explanation.add(
                .stops, "the app has not the provider \(name): FAILED_PRECONDITION; \(has)",
                at: policy.location(of: "providers") ?? policy.location)
            return
        }
        let provider = method.provider
        explanation.add(.passes, "the app has the provider \(name)", at: provider.location)
        if route.permission == nil { explainLimit(policy, &explanation) }
        guard case .exchange = method.descriptor.kind else { return }
        explanation.add(.depends, "the provider verifies the evidence", at: provider.location)
        explainDenials(of: app, name, &explanation)
        explainRules(policy, name, &explanation)
        let place = policy.providers.first { $0.name.isExactly(name) }?.lifetimeLocation
        explanation.add(
            .note,
            "tokens live \(EffectiveValue.words(provider.tokenLifetime)), limited-use tokens \(EffectiveValue.words(TokenLifetime.limitedUse))",
            at: place ?? provider.location)
        explainStatuses(provider, &explanation)
        explainUses(of: app, name, &explanation)
    }

    /// How refusals are answered, where that is not the usual status.
    private func explainStatuses(_ provider: ProviderBinding, _ explanation: inout CallExplanation) {
        let others = provider.descriptor.reasons.compactMap { reason -> String? in
            let status = reason.with(provider.refusalStatuses[reason.code]).status
            let isUsual = status == .forbidden && reason.status == .forbidden
            return isUsual ? nil : "\(status.rawValue) for \(reason.code)"
        }
        guard !others.isEmpty else { return }
        explanation.add(
            .note, "refusals of the evidence are answered with 403; by reason: \(others.joined(separator: ", "))",
            at: provider.location)
    }

    private func explainLimit(_ app: AppPolicy, _ explanation: inout CallExplanation) {
        guard let limit = app.rateLimit else {
            explanation.add(.note, "calls are not limited")
            return
        }
        explanation.add(
            .depends,
            "at most \(limit.requests.counting("call")) in \(EffectiveValue.words(limit.interval)), \(limit.burst) at once: RESOURCE_EXHAUSTED beyond",
            at: app.location(of: "rate_limit"))
    }

    private func explainRules(_ app: AppPolicy, _ provider: String, _ explanation: inout CallExplanation) {
        let facts = factTypes[provider] ?? [:]
        for rule in app.rules {
            let unknown = rule.facts.filter { facts[$0] == nil && !$0.isExactly(RuleSet.provider) }
            let never = unknown.isEmpty ? "" : "; \(provider) does not tell \(unknown.joined(separator: ", "))"
            explanation.add(
                rule.isShadow ? .note : .depends, "rule \(rule.name): \(rule.words)\(never)", at: rule.location)
        }
        if !app.rules.isEmpty { explanation.add(.note, "evidence that no rule matches is accepted") }
    }

    /// What consumers and services do with tokens of the app.
    private func explainUses(of app: AppBinding, _ provider: String, _ explanation: inout CallExplanation) {
        guard let project = bound.projects["projects/\(app.identity.project.number)"],
            let policy = policy(of: project)
        else { return }
        for policy in policy.consumers {
            guard let plugin = registry.consumers[policy.name],
                let consumer = bound.consumers.byProject[project.name]?[policy.name]
            else { continue }
            for part in possibleParts(of: consumer, plugin) {
                let use =
                    part.refusal.map { "refuses them, as all others: \($0.code)" }
                    ?? use(app.identity.subject, provider, part.demand, in: project)
                explanation.add(.note, "\(consumer.name(part)) \(use)", at: policy.demandLocation)
            }
        }
        let services = bound.services(of: project)
        for service in policy.services.compactMap({ services[$0.id] }) {
            let verdict: String
            switch service.levels.enforcement {
            case .off: verdict = "checks no tokens"
            case .unenforced, .enforced:
                let refusal = refusal(of: app.identity.subject, provider, in: project, service.demand)
                verdict = refusal.map { "does not accept them: \($0.code)" } ?? "accepts them"
            }
            explanation.add(
                .note, "service \(service.id) (\(service.levels.enforcement.rawValue)) \(verdict)", at: service.location
            )
        }
    }

    /// What a demand makes of tokens of an app by a provider.
    private func use(
        _ subject: String, _ provider: String, _ demand: TokenDemand, in project: ProjectBinding
    ) -> String {
        let refusal = refusal(of: subject, provider, in: project, demand)
        switch demand.enforcement {
        case .off: return "needs none"
        case .unenforced:
            let verdict = refusal.map { "would refuse them: \($0.code)" } ?? "would accept them\(demand.words)"
            return "\(verdict); it lets all requests pass (UNENFORCED)"
        case .enforced: return refusal.map { "refuses them: \($0.code)" } ?? "accepts them\(demand.words)"
        }
    }

    /// All that a consumer may demand; of one whose secrets were not read, what its section says.
    private func possibleParts(of consumer: ConsumerBinding, _ plugin: ConsumerPlugin) -> [PartDemand] {
        let methods = plugin.methods.compactMap { consumer.instance.methods[$0.name] }.filter(\.takesToken)
        // Methods with the same demands are one.
        let parts = methods.flatMap { consumer.demands(by: $0) }
        return parts.isEmpty
            ? [PartDemand(service: consumer.descriptor.name, demand: consumer.exchangeDemand)] : parts.uniqued()
    }

    func explainConsumers(
        _ plugins: [ConsumerPlugin], _ call: ExplainedCall, by view: CallerView?, _ explanation: inout CallExplanation
    ) {
        if let view, let projects = view.configuration.projects, call.resource.isEmpty, !call.namesConsumer(of: plugins)
        {
            explanation.add(
                .depends,
                "the request may name what it is for; \(view.policy.name) may act in \(projects.joined(separator: ", ")) only: "
                    + "PERMISSION_DENIED for all else", at: view.policy.section.location)
        }
        if plugins.count == 1, let plugin = plugins.first, let selection = plugin.selections[call.method] {
            let choice = ConsumerChoice(
                policies: bound, plugin: plugin, resource: call.resource, caller: view?.caller)
            do {
                let fields = try RequestFields(call.fields)
                let chosen = try choice.consumer(selection, fields) { throw InvalidRequest("the token decides") }
                // With a resource, the operator says which one is meant, where the request does not.
                if call.resource.isEmpty || bound.find(call.resource)?.project == chosen.project.identity {
                    return explainConsumer(chosen, plugin, call, fields, view, &explanation)
                }
            } catch let failure as CallFailure {
                if call.resource.isEmpty, !(plugin.hasWithheldInstance(in: bound)) {
                    let asked = plugin.methods.first { $0.name.isExactly(call.method) }?.binding.proxied?.backend
                    let hint = asked.flatMap { call.fields[$0]?.string }
                        .flatMap { Spelling.hint(for: $0, among: bound.backendNames) }
                    let end = failure.reason.map { "refused \($0.code)" }
                    stop(failure.detail ?? failure.message, end, hint, limiting: view, &explanation)
                    return
                }
            } catch {
                // The request does not say which one it is for.
            }
        }
        explainCandidates(plugins, call, view, &explanation)
    }

    /// Explains the consumers that a request may be for.
    private func explainCandidates(
        _ plugins: [ConsumerPlugin], _ call: ExplainedCall, _ view: CallerView?, _ explanation: inout CallExplanation
    ) {
        let found: [ProjectPolicy]
        switch bound.find(call.resource) {
        case nil where call.resource.isEmpty: found = policies.projects
        case nil:
            let (what, hint) = unknown(call.resource)
            stop(what, Self.noConsumerEnding, hint, limiting: view, &explanation)
            return
        case let resource?: found = projects["projects/\(resource.project.number)"].map { [$0] } ?? []
        }
        var isFirst = true
        for project in found {
            for policy in project.consumers {
                guard let plugin = plugins.first(where: { $0.descriptor.name.isExactly(policy.name) }),
                    let consumer = bound.consumers.byProject["projects/\(project.identity.number)"]?[policy.name]
                else { continue }
                isFirst = false
                if let view, view.caller.refusal(in: project.identity) != nil {
                    let isOnly = found.count == 1
                    explanation.add(
                        isOnly ? .stops : .note,
                        "the caller \(view.policy.name) may not act in the project \(project.identity.id)"
                            + (isOnly ? ": PERMISSION_DENIED" : ""), at: view.policy.section.location)
                    continue
                }
                explainConsumer(consumer, plugin, call, nil, nil, &explanation)
            }
        }
        guard isFirst else { return }
        let names = plugins.map(\.descriptor.name).joined(separator: " or ")
        stop(
            "the project has not the consumer \(names)", Self.noConsumerEnding, nil, limiting: view, &explanation,
            at: found.first?.location)
    }

    private static let noConsumerEnding = "refused \(KernelReasons.consumerUnknown.code)"

    /// - Parameter fields: what is known of the request, if it is for just this consumer.
    private func explainConsumer(
        _ consumer: ConsumerBinding, _ plugin: ConsumerPlugin, _ call: ExplainedCall, _ fields: RequestFields?,
        _ view: CallerView?, _ explanation: inout CallExplanation
    ) {
        let project = consumer.project
        if let view, view.caller.refusal(in: project.identity) != nil {
            explanation.add(
                .stops,
                "the caller \(view.policy.name) may not act in the project \(project.identity.id): PERMISSION_DENIED",
                at: view.policy.section.location)
            return
        }
        let name = consumer.descriptor.name
        explanation.add(
            .passes, "the project \(project.identity.id) has the consumer \(name)", at: consumer.location)
        let policy = policy(of: project)?.consumers.first { $0.name.isExactly(name) }
        let place = policy?.demandLocation ?? consumer.location
        guard let method = consumer.instance.methods[call.method] else {
            if plugin.methods.contains(where: { $0.name.isExactly(call.method) && !$0.takesToken }) {
                explanation.add(.passes, "the method takes no token", at: place)
                return
            }
            let further =
                consumer.instance.isWithheld
                ? "what else the consumer needs is not known: its secrets are not read here" : nil
            explain(
                PartDemand(service: name, demand: consumer.exchangeDemand, further: further), of: consumer, at: place,
                &explanation)
            return
        }
        guard method.takesToken else {
            explanation.add(.passes, "the method takes no token", at: place)
            return
        }
        let parts = consumer.demands(by: method)
        // Only a request that is known as a whole has one demand.
        if let fields, call.isWhole(consumer, plugin, method) {
            do {
                let prepared = try method.prepare(fields)
                let demand = consumer.demand(of: prepared, by: method)
                let known =
                    parts.first { $0.isPart(of: prepared, in: consumer) }
                    ?? PartDemand(service: prepared.service ?? name, demand: demand)
                if let refusal = known.refusal {
                    let name = known.isWhole(of: consumer) ? "" : "\(consumer.name(known)): "
                    explanation.add(
                        .stops, "\(name)refused \(refusal.code), whatever the token is",
                        at: policy?.location(of: known) ?? place)
                    return
                }
                explain(known, of: consumer, at: policy?.location(of: known) ?? place, &explanation)
            } catch {
                explanation.add(.stops, "the request is refused: \(SafeText.of("\(error)"))", at: place)
            }
            return
        }
        for part in parts { explain(part, of: consumer, at: policy?.location(of: part) ?? place, &explanation) }
    }

    /// Which tokens a part of a consumer accepts.
    private func explain(
        _ part: PartDemand, of consumer: ConsumerBinding, at place: SourceLocation,
        _ explanation: inout CallExplanation
    ) {
        let name = part.isWhole(of: consumer) ? "" : "\(consumer.name(part)): "
        if let refusal = part.refusal {
            explanation.add(.note, "\(name)refused \(refusal.code), whatever the token is", at: place)
            return
        }
        let isEditable =
            part.inherits.contains(.enforcement)
            && bound.services(of: consumer.project)[part.service]?.isEditable == true
        let further =
            (part.further.map { "; \($0)" } ?? "")
            + (isEditable ? "; administrators may have set another level than the policy's" : "")
        switch part.demand.enforcement {
        case .off:
            explanation.add(
                isEditable ? .depends : .passes, "\(name)no token is needed (enforcement OFF)\(further)", at: place)
            guard isEditable else { return }
        case .unenforced:
            explanation.add(
                isEditable ? .depends : .passes,
                "\(name)no valid token is needed: requests that do not meet the demand are let through, and counted "
                    + "(enforcement UNENFORCED)\(part.demand.words)\(further)", at: place)
        case .enforced:
            explanation.add(
                .depends, "\(name)a valid App Check token is needed\(part.demand.words)\(further)", at: place)
        }
        explainTokens(of: consumer.project, part.demand, &explanation)
    }

    /// What becomes of the tokens of a project's apps.
    func explainTokens(
        of project: ProjectBinding, _ demand: TokenDemand, _ explanation: inout CallExplanation
    ) {
        let isEnforced = demand.enforcement == .enforced
        explainDenials(ofTokensIn: project.identity, isEnforced: isEnforced, &explanation)
        for app in policies.apps where app.identity.project.number.isExactly(project.identity.number) {
            for provider in app.providers {
                let refusal = refusal(of: app.identity.subject, provider.name, in: project, demand)
                let verdict = refusal.map { "\(isEnforced ? "refused" : "would be refused") \($0.code)" } ?? "accepted"
                explanation.add(
                    .note, "tokens of \(app.identity.subject) by \(provider.name): \(verdict)",
                    at: provider.section.location)
            }
        }
    }

    /// Why even the best token of an app by a provider is refused; nil where it depends on the token.
    private func refusal(
        of subject: String, _ provider: String, in project: ProjectBinding, _ demand: TokenDemand
    ) -> Reason? {
        let token = KnownToken(subject: subject, provider: provider, isLimitedUse: true, issued: now)
        // The deny list has a step of its own.
        let judgement = bound.judge(token, for: project, demand: demand, at: now) { _ in .none }
        if case .refused(let reason, _) = judgement { return reason }
        return nil
    }
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

extension ConsumerBinding {
    /// A part of the consumer in words: `consumer custom_backend, orders POST /payments/*`.
    fileprivate func name(_ part: PartDemand) -> String {
        part.isWhole(of: self)
            ? "consumer \(descriptor.name)"
            : "consumer \(descriptor.name), \([part.service, part.part].compactMap(\.self).joined(separator: " "))"
    }
}

extension PartDemand {
    /// Whether it is the demand of the whole section.
    fileprivate func isWhole(of consumer: ConsumerBinding) -> Bool {
        part.isNil && service.isExactly(consumer.descriptor.name)
    }
}

extension [PartDemand] {
    /// Each once, in the same order.
    fileprivate func uniqued() -> [PartDemand] {
        var seen: Set<PartDemand> = []
        return filter { seen.insert($0).inserted }
    }
}

extension ConsumerPlugin {
    /// Whether the names of an instance are not known, because its secrets were not read.
    fileprivate func hasWithheldInstance(in policies: BoundPolicies) -> Bool {
        policies.consumers.all(descriptor.name).contains { $0.instance.isWithheld }
    }
}

extension ExplainedCall {
    /// Whether the fields that are known say which consumer is meant.
    fileprivate func namesConsumer(of plugins: [ConsumerPlugin]) -> Bool {
        plugins.contains { plugin in
            switch plugin.selections[method] {
            case .audience(let field)?, .section(let field, _)?: fields[field] != nil
            case .resource?, .tokenProject?, nil: false
            }
        }
    }

    /// Whether all that a consumer decides by is known: no part depends on the request, or the request is described.
    fileprivate func isWhole(
        _ consumer: ConsumerBinding, _ plugin: ConsumerPlugin, _ method: ConsumerInstance.Method
    ) -> Bool {
        guard let proxied = plugin.methods.first(where: { $0.name.isExactly(self.method) })?.binding.proxied else {
            return false
        }
        return fields[proxied.method] != nil && fields[proxied.target] != nil
    }
}

extension BoundPolicies {
    /// The names that requests of a proxy's clients may be for.
    var backendNames: [String] { consumers.everywhere.flatMap { $0.instance.demands.map(\.service) } }
}

extension ConsumerPolicy {
    /// The place of a part; nil for one that does not say it.
    fileprivate func location(of part: PartDemand) -> SourceLocation? {
        part.path.isEmpty ? nil : section.location(of: part.path)
    }

    /// The place of the demand on tokens, or of the section where it is absent.
    fileprivate var demandLocation: SourceLocation {
        section.location(of: ConsumerKeys.tokens) ?? section.location
    }
}
