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
    static let editable = "administrators can change the level of the service"
    private static let noProvider = "the provider is not recorded"

    static func refused(_ reason: Reason) -> Judgement { .ends("refused \(reason.code)") }
    static func ended(_ outcome: CallOutcome) -> Judgement {
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
    /// - Parameters:
    ///   - issuer: the `iss` of the request's token, if it has a genuine one.
    ///   - recorded: what the consumer demanded when the decision was made; nil where that is not known.
    func judge(
        _ decision: RecordedDecision, tokenIssuer issuer: String?, after recorded: RecordedDemands? = nil
    ) -> Judgement {
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
        case .consumer(let plugin): return judgeConsumer(decision, plugin, caller, issuer, recorded)
        case .tokenExchange: return judgeConsumer(decision, nil, caller, issuer, recorded)
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
            // A token that was used before is no refusal there.
            return Judgement(findingOfToken(decision, issuer, of: project, project.verificationDemand))
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
        let judgement = Denials(policies: bound.denials)
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

extension PolicyView {
    /// A request to a protected service.
    private func judgeService(_ decision: RecordedDecision, _ issuer: String?) -> Judgement {
        let parts = decision.resource.split(onASCII: "/")
        guard parts.count == 4, let project = bound.projects["projects/\(parts[1])"] else {
            return Self.rejected(.notFound)
        }
        let service: ProjectService
        do {
            guard let found = try bound.services(of: project).deciding(String(parts[3])) else {
                return .ends("answered")
            }
            service = found
        } catch {
            return Self.rejected(.invalidArgument)
        }
        guard !service.isEditable else { return .unknown(Self.editable) }
        guard service.levels.enforcement > .off else { return .ends("answered") }
        let isEnforced = service.levels.enforcement == .enforced
        guard let use = decision.tokenUse, let category = use["category"]?.string else { return .passes }
        guard isEnforced else { return .ends("answered") }
        switch finding(decision, issuer, of: project, service.demand) {
        case .refused(let reason): return .ends("refused \(reason)")
        case .unknown(let missing): return .unknown(missing)
        case .meets:
            return category.isExactly(TokenUse.Category.verified.rawValue)
                ? .ends("answered") : .unknown("the token was not judged further")
        }
    }
}
