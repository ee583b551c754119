internal import AssayCore
internal import AssayKit

extension ConsumerBinding {
    /// How a decision of the consumer ends a call.
    func settle(_ verdict: ConsumerVerdict) -> CallOutcome {
        switch verdict {
        case .granted(let reply):
            guard states(reply.facts) else { return undeclaredFact }
            var outcome = CallOutcome.answered(reply.message, facts: reply.facts)
            outcome.waived = reply.unenforced.map { Waived($0) }
            return outcome
        case .refused(let reason, let detail):
            return refused(reason, detail)
        }
    }

    /// How a decision about token exchange ends a call.
    func settle(_ verdict: ExchangeVerdict) -> CallOutcome {
        switch verdict {
        case .refused(let reason, let detail):
            return refused(reason, detail)
        case .granted(let token):
            guard states(token.facts) else { return undeclaredFact }
            var members = [
                JSONMember("access_token", .string(token.text)),
                JSONMember("issued_token_type", .string(token.type.uri)),
                JSONMember("token_type", .string(token.use)),
                JSONMember("expires_in", .integer(token.lifetime.wholeSeconds)),
            ]
            var names = Set(exactly: members.map(\.name))
            guard token.fields.allSatisfy({ names.insert($0.name).inserted }) else {
                return .fault("the consumer \(descriptor.name) replies with a field twice, or with the kernel's")
            }
            members += token.fields.map { JSONMember($0.name, $0.value) }
            return .answered(.object(members), facts: token.facts)
        }
    }

    /// Puts on record what the consumer says of a request that was refused, or would have been.
    func adding(_ facts: [Fact], to outcome: CallOutcome) -> CallOutcome {
        guard states(facts) else { return undeclaredFact }
        var outcome = outcome
        outcome.facts += facts
        return outcome
    }

    private func refused(_ reason: Reason, _ detail: String?) -> CallOutcome {
        guard descriptor.reasons.contains(reason) else {
            return .fault("the consumer \(descriptor.name) refused with an undeclared reason")
        }
        return .failed(ConsumerBinding.failure(reason, detail))
    }

    /// What a client is told where a consumer refuses.
    static func failure(_ reason: Reason, _ detail: String? = nil) -> CallFailure {
        CallFailure(
            .permissionDenied, "The request is not allowed.", reason: reason, detail: detail,
            oauthError: "invalid_target")
    }

    /// Whether all facts are among those that the consumer declares.
    private func states(_ facts: [Fact]) -> Bool {
        facts.allSatisfy { descriptor.facts.contains($0.name) }
    }

    private var undeclaredFact: CallOutcome { .fault("the consumer \(descriptor.name) states an undeclared fact") }
}

extension CallFailure {
    /// What the client is told about a refused token.
    ///
    /// One that is no token of this project is missing or invalid; one that is valid and does not meet the demand is
    /// not sufficient.
    init(_ refusal: TokenInspection.Refusal) {
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
    /// A request to a consumer ends by the refusal of its token.
    init(_ refusal: TokenInspection.Refusal) {
        self = .failed(CallFailure(refusal))
        provider = refusal.token?.provider
        facts = refusal.facts
    }

    /// The token was used before.
    static func reused(_ accepted: TokenInspection.Accepted) -> CallOutcome {
        .failed(CallFailure(TokenInspection.Refusal(reason: KernelReasons.tokenReused, token: accepted.token)))
    }
}
