package import AssayCore
internal import AssayKit

extension ConsumerBinding {
    /// The outcome of a consumer's decision.
    func settle(_ verdict: ConsumerVerdict) -> CallOutcome {
        switch verdict {
        case .granted(let reply):
            if let fault = fault(in: reply.message, facts: reply.facts) { return .fault(fault) }
            var outcome = CallOutcome.answered(reply.message, facts: reply.facts)
            outcome.waived = reply.unenforced.map { Waived($0, reply.unenforcedDetail) }
            return outcome
        case .refused(let reason, let detail, let facts):
            return refused(reason, detail, facts)
        }
    }

    /// The outcome of a decision about token exchange.
    func settle(_ verdict: ExchangeVerdict) -> CallOutcome {
        switch verdict {
        case .refused(let reason, let detail, let facts):
            return refused(reason, detail, facts)
        case .granted(let token):
            guard TokenExchange.lifetimes.contains(token.lifetime) else {
                return .fault("the consumer \(descriptor.name) issues a token with a lifetime that no token has")
            }
            var members = [
                JSONMember("access_token", .string(token.text)),
                JSONMember("issued_token_type", .string(token.type.uri)),
                JSONMember("token_type", .string(token.use)),
                JSONMember("expires_in", .integer(token.lifetime.wholeSeconds)),
            ]
            var names = Set(exactly: members.map(\.name))
            guard token.fields.allSatisfy({ names.insert($0.name).inserted }) else {
                return .fault(
                    "the consumer \(descriptor.name) replies with a duplicate field, or with one of the kernel's")
            }
            members += token.fields.map { JSONMember($0.name, $0.value) }
            if let fault = fault(in: .object(members), facts: token.facts) { return .fault(fault) }
            return .answered(.object(members), facts: token.facts)
        }
    }

    /// Adds the consumer's facts to the record of a request that was refused, or would have been.
    ///
    /// The client chose the values: ill-typed ones are dropped.
    func adding(_ facts: [Fact], to outcome: CallOutcome) -> CallOutcome {
        if let fault = pluginGuard.fault(inNamesOf: facts, of: "consumer") { return .fault(fault) }
        let known = Set(outcome.facts.map(\.name))
        let unverified = pluginGuard.unverified(facts.filter { !known.contains($0.name) })
        var outcome = outcome
        outcome.facts += unverified.kept
        outcome.detail = unverified.adding(to: outcome.detail)
        return outcome
    }

    private func refused(_ reason: Reason, _ detail: String?, _ facts: [Fact]) -> CallOutcome {
        if let fault = pluginGuard.fault(in: reason, of: "consumer") { return .fault(fault) }
        let outcome = CallOutcome.failed(ConsumerBinding.failure(reason, detail))
        return facts.isEmpty ? outcome : adding(facts, to: outcome)
    }

    /// The response to a client when a consumer refuses.
    package static func failure(_ reason: Reason, _ detail: String? = nil) -> CallFailure {
        CallFailure(
            .permissionDenied, "The request is not allowed.", reason: reason, detail: detail,
            oauthError: "invalid_target")
    }

    private func fault(in reply: JSON, facts: [Fact]) -> String? {
        pluginGuard.fault(in: facts, of: "consumer") ?? pluginGuard.fault(in: reply, of: "consumer")
    }
}

extension CallFailure {
    /// The response to a client with a refused token.
    ///
    /// A token that is not valid for this project is missing or invalid; a valid token that does not meet the demand is
    /// not sufficient.
    package init(_ refusal: TokenInspection.Refusal) {
        let isPolicy =
            [
                KernelReasons.tokenProviderNotAllowed, KernelReasons.tokenAppNotAllowed,
                KernelReasons.tokenOfOAuthClient, KernelReasons.tokenForDevelopment,
                KernelReasons.tokenNotLimitedUse, KernelReasons.tokenTooOld, KernelReasons.tokenReused,
            ].contains(refusal.reason)
        self.init(
            isPolicy ? .permissionDenied : .unauthenticated,
            isPolicy ? "The App Check token is not sufficient." : "The App Check token is missing or invalid.",
            reason: refusal.reason, detail: refusal.detail, oauthError: "invalid_request")
    }
}

extension CallOutcome {
    /// The outcome of a request to a consumer whose token is refused.
    init(_ refusal: TokenInspection.Refusal) {
        self = .failed(CallFailure(refusal))
        provider = refusal.token?.provider
        facts = refusal.facts
        isAboutGenuineToken = refusal.token != nil
    }

    /// The outcome for a token that was used before.
    static func reused(_ accepted: TokenInspection.Accepted, _ finding: TokenConsumption.Finding) -> CallOutcome {
        .failed(
            CallFailure(
                TokenInspection.Refusal(
                    reason: KernelReasons.tokenReused, detail: finding.detail, token: accepted.token)))
    }
}
