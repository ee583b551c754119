internal import AssayCore
internal import AssayEngine
internal import AssayHosting
internal import AssayKit
internal import AssayPolicy

extension PolicyView {
    /// Where a recorded request would end under the policies.
    enum Judgement {
        /// It ends so, whatever else is true.
        case ends(String, rule: String? = nil)
        /// The policies do not stop it; what was recorded follows from something else.
        case passes
        /// Why it cannot be judged.
        case unknown(String)
    }

    /// Credentials that are not those of a caller are not recorded.
    static let noCredentials = "credentials are not recorded"
    /// The consumer is not recorded where there is none.
    static let noConsumer = "the record does not say which consumer was meant"

    private static func refused(_ reason: Reason) -> String { "refused \(reason.code)" }
    private static func rejected(_ status: StatusCode) -> String { "rejected \(status.rawValue)" }

    /// Judges a recorded request as calls are answered: permission, resource, provider, then what the evidence said.
    func judge(_ decision: RecordedDecision) -> Judgement {
        if decision.method.isExactly("protect") { return judgeService(decision) }
        guard let route = registry.routes[decision.method] else { return .unknown("the program has no such method") }
        var caller: Caller?
        if let permission = route.permission {
            guard let name = decision.caller else { return .unknown(Self.noCredentials) }
            guard let found = callers[name]?.caller else { return .ends(Self.rejected(.unauthenticated)) }
            guard found.has(permission) else { return .ends(Self.rejected(.permissionDenied)) }
            caller = found
        }
        switch route.target {
        case .keySet: return .passes
        case .consumer(let plugin): return judgeConsumer(decision, plugin, caller)
        case .tokenExchange: return judgeConsumer(decision, nil, caller)
        case .kernel(let method): return judgeResource(decision, caller) { $0.contains(method.descriptor) }
        case .provider:
            let judgement = judgeResource(decision, caller) { found in
                if case .app(let app) = found { app.methods.contains(decision.method) } else { false }
            }
            guard case .passes = judgement, case .app(let app)? = find(decision.resource) else { return judgement }
            return judgeEvidence(decision, of: app)
        }
    }

    private func judgeResource(
        _ decision: RecordedDecision, _ caller: Caller?, isOffered: (Found) -> Bool
    ) -> Judgement {
        let found = find(decision.resource)
        if let caller, !caller.mayAct(in: found?.project) { return .ends(Self.rejected(.permissionDenied)) }
        guard let found else {
            let isMalformed = decision.ending.isExactly(Self.rejected(.invalidArgument))
            return .ends(Self.rejected(isMalformed ? .invalidArgument : .notFound))
        }
        if isOffered(found) { return .passes }
        // Only methods of providers can lack on an app.
        if case .app = found, case .provider? = registry.routes[decision.method]?.target {
            return .ends(Self.rejected(.failedPrecondition))
        }
        return .ends(Self.rejected(.invalidArgument))
    }

    /// The rules over what verified evidence said.
    private func judgeEvidence(_ decision: RecordedDecision, of app: App) -> Judgement {
        let isVerified = decision.outcome.isExactly("issued") || decision.reason.map(Self.isOfRules) ?? false
        guard isVerified else { return .passes }
        guard let provider = decision.provider else { return .unknown("the provider is not recorded") }
        let rules = app.rules[provider]
        let isOfServer =
            decision.reason.isExactly(KernelReasons.evidenceDenied.code)
            && !decision.denyList.isExactly(DenialSource.policies.rawValue)
        guard rules?.isEmpty == false || !denials.isEmpty || isOfServer else { return .ends("issued") }
        guard let facts = decision.facts(factTypes[provider] ?? [:]) else {
            return .unknown("a fact is cut in the record")
        }
        if denials.denial(of: facts, provider: provider, app: app.policy.identity, at: now) != nil {
            return .ends(Self.refused(KernelReasons.evidenceDenied))
        }
        if isOfServer { return .unknown(Denials.notInFiles) }
        guard let rules else { return .ends("issued") }
        let rule = rules.judge(facts, provider: provider).rule
        return rule?.effect == .refuse
            ? .ends(Self.refused(KernelReasons.ruleRefused), rule: rule?.name) : .ends("issued", rule: rule?.name)
    }

    /// Whether evidence was refused after it was verified.
    private static func isOfRules(_ reason: String) -> Bool {
        [KernelReasons.ruleRefused, KernelReasons.evidenceDenied].contains { reason.isExactly($0.code) }
    }
}

// MARK: - Tokens

extension PolicyView {
    /// - Parameter plugin: nil for token exchange, whose record names the consumer.
    private func judgeConsumer(
        _ decision: RecordedDecision, _ plugin: ConsumerPlugin?, _ caller: Caller?
    ) -> Judgement {
        let recorded = decision.fact(.consumer)
        guard let name = recorded ?? plugin?.descriptor.name, !recorded.isNil || !decision.provider.isNil,
            let plugin = plugin ?? registry.consumers[name]
        else { return .unknown(Self.noConsumer) }
        guard let project = projects[decision.resource],
            let consumer = project.consumers.first(where: { $0.name.isExactly(name) })
        else { return .ends(Self.refused(KernelReasons.consumerUnknown)) }
        if let caller, !caller.mayAct(in: project.identity) { return .ends(Self.rejected(.permissionDenied)) }
        // Only of a token whose signature is valid is a provider on record.
        guard let provider = decision.provider, decision.unenforced.isNil else { return .passes }
        let demand = demand(of: consumer, plugin, in: project)
        // A plugin whose methods may be unenforced has demands of its own, which may be other ones.
        let isWhole = !plugin.allowsUnenforced
        let subject = decision.fact(.app)
        let refusal = refusal(
            of: subject, provider, in: project, development: demand.acceptsDevelopment || !isWhole,
            oauthClients: demand.acceptsOAuthClients || demand.apps != nil || !isWhole)
        if let refusal { return .ends(Self.refused(refusal)) }
        guard isWhole else { return .passes }
        if let providers = demand.providers, !providers.contains(provider) {
            return .ends(Self.refused(KernelReasons.tokenProviderNotAllowed))
        }
        if let apps = demand.apps, let subject, !apps.contains(subject) {
            return .ends(Self.refused(KernelReasons.tokenAppNotAllowed))
        }
        return .passes
    }

    /// A request to a protected service.
    private func judgeService(_ decision: RecordedDecision) -> Judgement {
        let parts = decision.resource.split(onASCII: "/")
        guard parts.count == 4, let project = projects["projects/\(parts[1])"] else {
            return .ends(Self.rejected(.notFound))
        }
        let name = String(parts[3])
        guard let service = project.services.first(where: { $0.id.isExactly(name) }) else {
            return ServicePolicy.googleServices.contains(exactly: name)
                ? .ends("answered") : .ends(Self.rejected(.invalidArgument))
        }
        guard !service.isEditable else { return .unknown("administrators can change the level of the service") }
        guard let use = decision.tokenUse, let category = use["category"]?.string else { return .passes }
        let subject = use["app"]?.string
        guard service.enforcement > .off else { return .ends("answered") }
        var reason: Reason?
        if category.isExactly(TokenUse.Category.verified.rawValue)
            || category.isExactly(TokenUse.Category.reused.rawValue)
        {
            guard let provider = decision.provider else { return .unknown("the provider is not recorded") }
            reason = refusal(
                of: subject, provider, in: project, development: service.acceptsDevelopment,
                oauthClients: service.acceptsOAuthClients)
            if reason == nil, category.isExactly(TokenUse.Category.reused.rawValue) {
                guard service.enforcement == .enforced, service.replayProtection != .enforced else {
                    return service.enforcement == .enforced
                        ? .ends(Self.refused(KernelReasons.tokenReused)) : .ends("answered")
                }
                return .unknown("whether the token was for limited use is not recorded")
            }
            return reason.map { service.enforcement == .enforced ? .ends(Self.refused($0)) : .ends("answered") }
                ?? .ends("answered")
        }
        guard let code = decision.reason ?? decision.unenforced else { return .unknown("the reason is not recorded") }
        if let provider = decision.provider, Self.policyReasons.contains(code),
            refusal(
                of: subject, provider, in: project, development: service.acceptsDevelopment,
                oauthClients: service.acceptsOAuthClients) == nil
        {
            return .unknown("the token was not judged further")
        }
        return service.enforcement == .enforced ? .ends("refused \(code)") : .ends("answered")
    }

    /// The reasons that follow from policies, not from the token alone.
    private static let policyReasons = Set(
        exactly: [
            KernelReasons.tokenAppUnknown, KernelReasons.tokenOfOAuthClient, KernelReasons.tokenProviderUnsupported,
            KernelReasons.tokenProviderNotAllowed, KernelReasons.tokenForDevelopment,
        ].map(\.code))
}

extension RecordedDecision {
    fileprivate func fact(_ name: FactName) -> String? {
        facts.first { $0.name.isExactly(name.text) }?.value.string
    }
}

extension PolicyView.Found {
    /// Whether a method of the kernel is for a resource of its kind.
    fileprivate func contains(_ method: MethodDescriptor) -> Bool { method.resources.contains(kind) }
}
