internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy

extension PolicyView {
    /// Where a recorded request would end under the policies.
    enum Judgement: Equatable {
        /// It ends so, whatever else is true.
        case ends(String, rule: String? = nil)
        /// The policies do not stop it; what was recorded follows from something else.
        case passes
        /// Why it cannot be judged.
        case unknown(String)

        static func == (left: Judgement, right: Judgement) -> Bool {
            switch (left, right) {
            case (.ends(let one, let first), .ends(let other, let second)):
                one.isExactly(other) && first.isExactly(second)
            case (.passes, .passes): true
            case (.unknown(let one), .unknown(let other)): one.isExactly(other)
            case (.ends, _), (.passes, _), (.unknown, _): false
            }
        }
    }

    /// Credentials that are not those of a caller are not recorded.
    static let noCredentials = "credentials are not recorded"
    /// The consumer is not recorded where there is none.
    static let noConsumer = "the record does not say which consumer was meant"
    private static let editable = "administrators can change the level of the service"
    private static let noProvider = "the provider is not recorded"

    private static func refused(_ reason: Reason) -> Judgement { .ends("refused \(reason.code)") }
    private static func ended(_ outcome: CallOutcome) -> Judgement {
        switch outcome.outcome {
        case .refused(let reason): refused(reason)
        case .rejected(let status): rejected(status)
        case .failed(let status): .ends("error \(status.rawValue)")
        case .answered, .challenged, .issued: .passes
        }
    }
    private static func rejected(_ status: StatusCode) -> Judgement { .ends("rejected \(status.rawValue)") }

    /// Judges a recorded request with what decides in a server: permission, resource, provider, then what the evidence or the
    /// token said.
    ///
    /// - Parameter issuer: the `iss` of the request's token, if it has a genuine one.
    func judge(_ decision: RecordedDecision, tokenIssuer issuer: String?) -> Judgement {
        if decision.method.isExactly(RecordedDecision.protection) { return judgeService(decision, issuer) }
        guard let route = registry.routes[decision.method] else { return .unknown("the program has no such method") }
        var caller: Caller?
        if let permission = route.permission {
            guard let name = decision.caller else { return .unknown(Self.noCredentials) }
            guard let found = callers[name]?.caller else { return Self.rejected(.unauthenticated) }
            if let refusal = found.refusal(needing: permission) { return Self.ended(refusal) }
            caller = found
        }
        switch route.target {
        case .keySet: return .passes
        case .consumer(let plugin): return judgeConsumer(decision, plugin, caller, issuer)
        case .tokenExchange: return judgeConsumer(decision, nil, caller, issuer)
        case .kernel, .provider: break
        }
        switch bound.admit(decision.method, route, to: decision.resource, by: caller) {
        case .ended(let outcome, let found):
            // Of a malformed name, records have only what is printable, and not all of it.
            let isMalformed =
                decision.ending.isExactly("rejected \(StatusCode.invalidArgument.rawValue)")
                && (decision.resource.ends(withExactly: "...") || decision.resource.utf8.contains(UInt8(ascii: "?")))
            return found == nil && isMalformed ? Self.rejected(.invalidArgument) : Self.ended(outcome)
        case .kernel(let method, .project(let project)):
            guard case .call(.verifyTokens) = method.descriptor.kind else { return .passes }
            return judgeToken(decision, issuer, of: project, project.verificationDemand)
        case .kernel(_, .app): return .passes
        case .provider(let app, _): return judgeEvidence(decision, of: app)
        }
    }

    /// The deny list and the rules over what verified evidence said.
    private func judgeEvidence(_ decision: RecordedDecision, of app: AppBinding) -> Judgement {
        let isVerified = decision.outcome.isExactly("issued") || decision.reason.map(Self.isOfRules) ?? false
        guard isVerified else { return .passes }
        guard let provider = decision.provider else { return .unknown(Self.noProvider) }
        let rules = app.rules[provider]
        let isOfServer =
            decision.reason.isExactly(KernelReasons.evidenceDenied.code)
            && !decision.denyList.isExactly(DenialSource.policies.rawValue)
        guard rules?.isEmpty == false || !bound.denials.isEmpty || isOfServer else { return .ends("issued") }
        guard let facts = decision.facts(factTypes[provider] ?? [:]) else {
            return .unknown("a fact is cut in the record")
        }
        let judgement = Denials(policies: bound.denials, server: DenyList())
            .judge(facts, of: app.identity, by: provider, rules: rules, at: decision.time ?? now)
        if case .judged = judgement, isOfServer { return .unknown(Denials.notInFiles) }
        return .ends(judgement.refusal.map { "refused \($0.reason.code)" } ?? "issued", rule: judgement.rule?.name)
    }

    /// Whether an outcome is one that only evidence has which its provider verifies.
    static func followsEvidence(_ outcome: String) -> Bool {
        outcome.isExactly("issued")
            || [KernelReasons.ruleRefused, KernelReasons.evidenceDenied].contains {
                outcome.isExactly("refused \($0.code)")
            }
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
        _ decision: RecordedDecision, _ plugin: ConsumerPlugin?, _ caller: Caller?, _ issuer: String?
    ) -> Judgement {
        let recorded = decision.fact(.consumer)
        guard let name = recorded ?? plugin?.descriptor.name, !recorded.isNil || !decision.provider.isNil,
            let plugin = plugin ?? registry.consumers[name]
        else { return .unknown(Self.noConsumer) }
        guard let project = bound.projects[decision.resource],
            let consumer = bound.consumers.byProject[project.name]?[name]
        else { return Self.refused(KernelReasons.consumerUnknown) }
        if let refusal = caller?.refusal(in: project.identity) { return Self.ended(refusal) }
        guard let parts = parts(of: consumer, plugin, decision) else {
            return .unknown("a secret of the consumer is needed to know what it demands")
        }
        guard let first = parts.first else { return Self.refused(KernelReasons.consumerUnknown) }
        let judgement = judgePart(first, decision, issuer, of: consumer)
        for part in parts.dropFirst() where judgePart(part, decision, issuer, of: consumer) != judgement {
            return .unknown("the record does not say which part of \(name) the request was for")
        }
        return judgement
    }

    /// What the consumer may have demanded of the request; nil where only an instance with its secrets knows.
    private func parts(
        of consumer: ConsumerBinding, _ plugin: ConsumerPlugin, _ decision: RecordedDecision
    ) -> [PartDemand]? {
        let service = decision.tokenUse?["service"]?.string
        guard !decision.method.isExactly(TokenExchange.method.name) else {
            if let service, !consumer.instance.isWithheld, !consumer.instance.audiences.contains(exactly: service) {
                return []
            }
            return [PartDemand(service: consumer.descriptor.name, demand: consumer.exchangeDemand)]
        }
        guard let method = plugin.methods.first(where: { $0.name.isExactly(decision.method) }), method.takesToken else {
            return [PartDemand(service: consumer.descriptor.name, demand: TokenDemand(enforcement: .off))]
        }
        guard let bound = consumer.instance.methods[decision.method] else {
            return plugin.allowsUnenforced
                ? nil : [PartDemand(service: consumer.descriptor.name, demand: consumer.exchangeDemand)]
        }
        let all = consumer.demands(by: bound)
        guard let service, !consumer.instance.demands.isEmpty else { return all }
        return all.filter { $0.service.isExactly(service) }
    }

    private func judgePart(
        _ part: PartDemand, _ decision: RecordedDecision, _ issuer: String?, of consumer: ConsumerBinding
    ) -> Judgement {
        let project = consumer.project
        if part.inherits.contains(.enforcement),
            bound.services(of: project)[part.service]?.isEditable == true
        {
            // Whatever level they have set.
            let levels = EnforcementMode.allCases.map { level in
                var part = PartDemand(service: part.service, demand: part.demand, refusal: part.refusal)
                part.demand.enforcement = level
                return judgePart(part, decision, issuer, of: consumer)
            }
            return levels.allSatisfy { $0 == levels.first } ? levels.first ?? .passes : .unknown(Self.editable)
        }
        guard part.demand.enforcement > .off else { return part.refusal.map { Self.refused($0) } ?? .passes }
        let judgement = judgeToken(decision, issuer, of: project, part.demand)
        guard case .passes = judgement else { return judgement }
        return part.refusal.map { Self.refused($0) } ?? .passes
    }

    /// A request with a token, by a demand.
    private func judgeToken(
        _ decision: RecordedDecision, _ issuer: String?, of project: ProjectBinding, _ demand: TokenDemand
    ) -> Judgement {
        // Only of a token whose signature is valid is a provider on record.
        guard let provider = decision.provider else { return .passes }
        guard let subject = decision.fact(.app) else { return .unknown("the app of the token is not recorded") }
        switch judge(decision, KnownToken(subject: subject, provider: provider, issuer: issuer), of: project, demand) {
        case .accepted: return .passes
        case .refused(let reason, _): return demand.enforcement == .enforced ? Self.refused(reason) : .passes
        case .unknown(let missing): return .unknown(missing)
        }
    }

    private func judge(
        _ decision: RecordedDecision, _ token: KnownToken, of project: ProjectBinding, _ demand: TokenDemand
    ) -> TokenJudgement {
        let time = decision.time ?? now
        return bound.judge(token, for: project, demand: demand, at: time) { app in
            let denial = denial(ofToken: decision.fact(.tokenID), app: app, at: time)
            // The entry is not in the files: administrators added it to the server.
            if case .none = denial, decision.isRefused(KernelReasons.tokenDenied) {
                return .unknown(Denials.notInFiles)
            }
            return denial
        }
    }

    /// A request to a protected service.
    private func judgeService(_ decision: RecordedDecision, _ issuer: String?) -> Judgement {
        let parts = decision.resource.split(onASCII: "/")
        guard parts.count == 4, let project = bound.projects["projects/\(parts[1])"] else {
            return Self.rejected(.notFound)
        }
        let name = String(parts[3])
        let services = bound.services(of: project)
        guard services.supports(name) else { return Self.rejected(.invalidArgument) }
        guard let service = services[name] else { return .ends("answered") }
        guard service.isWhole else { return Self.rejected(.invalidArgument) }
        guard !service.isEditable else { return .unknown(Self.editable) }
        guard service.levels.enforcement > .off else { return .ends("answered") }
        let isEnforced = service.levels.enforcement == .enforced
        guard let use = decision.tokenUse, let category = use["category"]?.string else { return .passes }
        guard let provider = decision.provider, let subject = decision.fact(.app) ?? use["app"]?.string else {
            // The token itself is wrong, or there is none.
            guard let code = decision.reason ?? decision.unenforced else {
                return .unknown("the reason is not recorded")
            }
            return isEnforced ? .ends("refused \(code)") : .ends("answered")
        }
        switch judge(
            decision, KnownToken(subject: subject, provider: provider, issuer: issuer), of: project, service.demand)
        {
        case .refused(let reason, _): return isEnforced ? Self.refused(reason) : .ends("answered")
        case .unknown(let missing): return isEnforced ? .unknown(missing) : .ends("answered")
        case .accepted: break
        }
        guard isEnforced else { return .ends("answered") }
        if category.isExactly(TokenUse.Category.reused.rawValue) {
            // Limited-use tokens are used once in any case.
            return service.levels.replayProtection == .enforced
                ? Self.refused(KernelReasons.tokenReused)
                : .unknown("whether the token was for limited use is not recorded")
        }
        return category.isExactly(TokenUse.Category.verified.rawValue)
            ? .ends("answered") : .unknown("the token was not judged further")
    }
}
