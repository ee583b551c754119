internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy

/// What the consumer of a recorded request demanded when the decision was made.
struct RecordedDemands: Sendable {
    /// All parts of the service that the request was for, or of all services where that is not known.
    let all: [PartDemand]
    /// Those that the request can have been for.
    let possible: [PartDemand]
    /// Whether all that decides besides the demands on tokens is the same now.
    let isAlike: Bool
}

// MARK: - Consumers

extension PolicyView {
    /// What the policies demand of a recorded request; nil where that is not known.
    ///
    /// - Parameter isAlike: see ``RecordedDemands/isAlike``.
    func demands(
        of decision: RecordedDecision, tokenIssuer issuer: String?, isAlike: Bool
    ) -> RecordedDemands? {
        let plugin: ConsumerPlugin?
        switch registry.routes[decision.method]?.target {
        case .consumer(let found): plugin = found
        case .tokenExchange: plugin = nil
        case .kernel, .provider, .keySet, nil: return nil
        }
        guard let name = consumerName(decision, plugin), let plugin = plugin ?? registry.consumers[name],
            let project = bound.projects[decision.resource],
            let consumer = bound.consumers.byProject[project.name]?[name],
            let all = parts(of: consumer, plugin, decision)
        else { return nil }
        let narrowed = part(of: decision, consumer, plugin, among: all).map { [$0] } ?? all
        let ending = decision.ending
        let possible = narrowed.filter { part in
            guard case .ends(let outcome, _) = judgePart(part, decision, issuer, of: consumer, nil) else { return true }
            return outcome.isExactly(ending)
        }
        return possible.isEmpty ? nil : RecordedDemands(all: all, possible: possible, isAlike: isAlike)
    }

    private func consumerName(_ decision: RecordedDecision, _ plugin: ConsumerPlugin?) -> String? {
        let recorded = decision.fact(.consumer)
        guard !recorded.isNil || !decision.provider.isNil || decision.tokenUse != nil else { return nil }
        return recorded ?? plugin?.descriptor.name
    }

    /// - Parameter plugin: nil for token exchange, whose record names the consumer.
    func judgeConsumer(
        _ decision: RecordedDecision, _ plugin: ConsumerPlugin?, _ caller: Caller?, _ issuer: String?,
        _ recorded: RecordedDemands?
    ) -> Judgement {
        guard let name = consumerName(decision, plugin), let plugin = plugin ?? registry.consumers[name]
        else { return .unknown(Self.noConsumer) }
        guard let project = bound.projects[decision.resource],
            let consumer = bound.consumers.byProject[project.name]?[name]
        else {
            // A caller with some projects only does not learn what there is.
            return caller?.refusal(in: nil).map(Self.ended) ?? Self.refused(KernelReasons.consumerUnknown)
        }
        if let refusal = caller?.refusal(in: project.identity) { return Self.ended(refusal) }
        guard var parts = parts(of: consumer, plugin, decision) else {
            return .unknown("a secret of the consumer is needed to know what it demands")
        }
        let isSame = recorded.map { $0.isAlike && $0.hasParts(parts) } ?? false
        if recorded?.isAlike != false, let part = part(of: decision, consumer, plugin, among: parts) {
            parts = [part]
        } else if isSame, let recorded {
            // The same requests are for the same parts.
            parts = parts.filter { !recorded.only($0).possible.isEmpty }
        }
        let judgements = parts.map { part in
            judgePart(part, decision, issuer, of: consumer, isSame ? recorded?.only(part) : recorded)
        }
        guard let judgement = judgements.first else { return Self.refused(KernelReasons.consumerUnknown) }
        guard judgements.allSatisfy({ $0 == judgement }) else {
            return .unknown("the record does not say which part of \(name) the request was for")
        }
        return judgement
    }

    /// What the consumer may have demanded of the request; nil where only an instance with its secrets knows.
    private func parts(
        of consumer: ConsumerBinding, _ plugin: ConsumerPlugin, _ decision: RecordedDecision
    ) -> [PartDemand]? {
        let service = decision.service
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

    /// The part that a recorded request of a proxy's client is for, by its method and its path; nil where they are not recorded, or
    /// not as a whole.
    private func part(
        of decision: RecordedDecision, _ consumer: ConsumerBinding, _ plugin: ConsumerPlugin, among parts: [PartDemand]
    ) -> PartDemand? {
        guard parts.count > 1, let service = decision.service,
            let method = plugin.methods.first(where: { $0.name.isExactly(decision.method) }),
            let bound = consumer.instance.methods[decision.method],
            let fields = ProxiedCall(recorded: decision, to: service)?.fields(for: method),
            let request = try? RequestFields(fields), let prepared = try? bound.prepare(request)
        else { return nil }
        let part = parts.first { $0.isPart(of: prepared, in: consumer) }
        // What led to the recorded reason may not be on record as a whole, such as two paths.
        let code = decision.reason ?? decision.unenforced
        let isUnclear = parts.contains { $0.refusal?.code.isExactly(code ?? "") == true }
        return isUnclear && part?.refusal == nil ? nil : part
    }

    private func judgePart(
        _ part: PartDemand, _ decision: RecordedDecision, _ issuer: String?, of consumer: ConsumerBinding,
        _ recorded: RecordedDemands?
    ) -> Judgement {
        let project = consumer.project
        if part.inherits.contains(.enforcement),
            bound.services(of: project)[part.service]?.isEditable == true
        {
            // Whatever level they have set.
            let levels = EnforcementMode.allCases.map { level in
                var part = PartDemand(
                    service: part.service, part: part.part, demand: part.demand, further: part.further,
                    refusal: part.refusal)
                part.demand.enforcement = level
                return judgePart(part, decision, issuer, of: consumer, recorded)
            }
            return levels.allSatisfy { $0 == levels.first } ? levels.first ?? .passes : .unknown(Self.editable)
        }
        if let refusal = part.refusal { return Self.refused(refusal) }
        guard part.demand.enforcement == .enforced else {
            return recorded?.leavesOpen(decision, under: part).map { .unknown($0) } ?? .passes
        }
        let judgement = Judgement(finding(decision, issuer, of: project, part.demand, recorded))
        // Where more differs than demands, the comparison of settings says so.
        guard case .passes = judgement, let recorded, recorded.isAlike else { return judgement }
        if let missing = recorded.leavesOpen(decision, under: part) { return .unknown(missing) }
        guard let code = decision.unenforced, !KernelReasons.isAboutToken(code) else { return .passes }
        // What was found besides the token, and let pass.
        return .ends("refused \(code)")
    }
}

extension RecordedDemands {
    /// Whether there are the same parts now, so that each request is for the part that it was for.
    fileprivate func hasParts(_ parts: [PartDemand]) -> Bool {
        parts.count == all.count && zip(parts, all).allSatisfy { $0.isSamePart($1) }
    }

    /// The same for a request that was for one part.
    fileprivate func only(_ part: PartDemand) -> RecordedDemands {
        RecordedDemands(all: all, possible: possible.filter { $0.isSamePart(part) }, isAlike: isAlike)
    }

    /// Why it is not known whether a request whose token meets the demand of a part would pass; nil where it ends as recorded.
    fileprivate func leavesOpen(_ decision: RecordedDecision, under part: PartDemand) -> String? {
        // The comparison of settings says so.
        guard isAlike else { return nil }
        let needsOther = possible.contains { !$0.further.isExactly(part.further) }
        let hasOtherLevel = possible.contains { $0.refusal == nil && $0.demand.enforcement != part.demand.enforcement }
        if let reason = decision.reason, !KernelReasons.isAboutToken(reason), needsOther || hasOtherLevel {
            return "what the consumer refuses may depend on what is needed besides a token, and on the level"
        }
        guard part.demand.enforcement == .enforced else { return nil }
        if needsOther { return "what is needed besides a token differs, and is not recorded" }
        let wasCounted = possible.allSatisfy { $0.demand.replayProtection > .off || $0.demand.requiresLimitedUse }
        let isFirst = decision.reason.isNil && decision.unenforced.isNil
        return part.demand.replayProtection == .enforced && isFirst && !wasCounted
            ? "whether the token had been used before is not recorded" : nil
    }
}

extension PartDemand {
    /// Whether requests that one part is for are those of the other one.
    fileprivate func isSamePart(_ other: PartDemand) -> Bool {
        service.isExactly(other.service) && part.isExactly(other.part)
    }

    /// Whether a request is for the part.
    func isPart(of prepared: PreparedRequest, in consumer: ConsumerBinding) -> Bool {
        service.isExactly(prepared.service ?? consumer.descriptor.name) && part.isExactly(prepared.part)
    }
}

// MARK: - Tokens

extension PolicyView {
    /// What a demand makes of the token of a recorded request.
    enum TokenFinding {
        case meets
        /// The reason.
        case refused(String)
        /// What is missing to judge it.
        case unknown(String)
    }

    /// What an enforced demand makes of the token of a recorded request, and of its use.
    func finding(
        _ decision: RecordedDecision, _ issuer: String?, of project: ProjectBinding, _ demand: TokenDemand,
        _ recorded: RecordedDemands? = nil
    ) -> TokenFinding {
        let finding = findingOfToken(decision, issuer, of: project, demand, recorded)
        let isReused =
            (decision.reason ?? decision.unenforced).isExactly(KernelReasons.tokenReused.code)
            || (decision.tokenUse?["category"]?.string).isExactly(TokenUse.Category.reused.rawValue)
        guard case .meets = finding, isReused else { return finding }
        // Limited-use tokens are used once in any case.
        return demand.replayProtection == .enforced
            ? .refused(KernelReasons.tokenReused.code)
            : .unknown("whether the token was for limited use is not recorded")
    }

    /// What an enforced demand makes of the token of a recorded request, were it its first use.
    func findingOfToken(
        _ decision: RecordedDecision, _ issuer: String?, of project: ProjectBinding, _ demand: TokenDemand,
        _ recorded: RecordedDemands? = nil
    ) -> TokenFinding {
        let code = decision.reason ?? decision.unenforced
        let aboutToken = code.flatMap { KernelReasons.isAboutToken($0) ? $0 : nil }
        let use = decision.tokenUse
        // Only of a token whose signature is valid is a provider on record.
        guard let provider = decision.provider else {
            // The token itself is wrong, or there is none.
            if let aboutToken {
                let names = [KernelReasons.tokenIssuer.code, KernelReasons.tokenAudience.code]
                let isOtherIssuer = issuer.map { !$0.isExactly(project.issuer) } ?? true
                return names.contains(exactly: aboutToken) && isOtherIssuer
                    ? .unknown("the issuer differs, and whose the token is is not recorded") : .refused(aboutToken)
            }
            if use == nil, !decision.status.isNil || !code.isNil { return .meets }
            return .unknown(use == nil ? "the token was not read" : "the reason is not recorded")
        }
        guard let subject = decision.fact(.app) ?? use?["app"]?.string else {
            return .unknown("the app of the token is not recorded")
        }
        let token = KnownToken(subject: subject, provider: provider, issuer: issuer)
        switch judge(decision, token, of: project, demand) {
        case .refused(let reason, _): return .refused(reason.code)
        case .accepted: break
        case .unknown(let missing):
            // A demand that differs in its level only has found what is on record.
            guard let recorded, !recorded.possible.isEmpty,
                recorded.possible.allSatisfy({ $0.demand.isOtherLevel(of: demand) }),
                case .accepted = judge(decision, token, of: project, demand.withoutTimes)
            else { return .unknown(missing) }
            if let aboutToken, KernelReasons.dependOnToken.contains(exactly: aboutToken) { return .refused(aboutToken) }
        }
        return .meets
    }

    private func judge(
        _ decision: RecordedDecision, _ token: KnownToken, of project: ProjectBinding, _ demand: TokenDemand
    ) -> TokenJudgement {
        let time = decision.time ?? now
        return bound.judge(token, for: project, demand: demand, at: time) { app in
            let denial = denial(ofToken: decision.fact(.tokenID), app: app, at: time)
            // Another entry, perhaps one that administrators added to the server.
            if case .none = denial, decision.isRefused(KernelReasons.tokenDenied), !decision.isDeniedByFiles {
                return .unknown("which entry of a deny list names the token is not recorded")
            }
            return denial
        }
    }
}

extension PolicyView.Judgement {
    init(_ finding: PolicyView.TokenFinding) {
        self =
            switch finding {
            case .meets: .passes
            case .refused(let reason): .ends("refused \(reason)")
            case .unknown(let missing): .unknown(missing)
            }
    }
}

extension TokenDemand {
    /// Whether two demands differ in their level only.
    fileprivate func isOtherLevel(of other: TokenDemand) -> Bool {
        var demand = self
        demand.enforcement = other.enforcement
        return enforcement > .off && demand == other
    }

    /// The same demand without what no record of a use tells of a token.
    fileprivate var withoutTimes: TokenDemand {
        var demand = self
        demand.requiresLimitedUse = false
        demand.maximumAge = nil
        return demand
    }
}

extension KernelReasons {
    /// The reasons that depend on what no record of a use tells of a token.
    fileprivate static let dependOnToken = [tokenNotLimitedUse.code, tokenTooOld.code]

    /// Whether a reason is about the token that was shown, or was missing, and not about the request.
    static func isAboutToken(_ code: String) -> Bool {
        tokens.contains { $0.code.isExactly(code) }
    }
}
