internal import AssayKit

extension ConsumerEntry {
    /// How a decision of the consumer ends a call.
    func settle(_ verdict: ConsumerVerdict) -> CallOutcome {
        switch verdict {
        case .granted(let reply):
            guard states(reply.facts) else { return undeclaredFact }
            var ending = CallOutcome.answered(reply.message, facts: reply.facts)
            ending.waived = reply.unenforced.map { Waived($0) }
            return ending
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

    /// Puts on record what the consumer says of a request that was not simply let through.
    func adding(_ facts: [Fact], to ending: CallOutcome) -> CallOutcome {
        guard states(facts) else { return undeclaredFact }
        var ending = ending
        ending.facts += facts
        return ending
    }

    private func refused(_ reason: Reason, _ detail: String?) -> CallOutcome {
        guard descriptor.reasons.contains(reason) else {
            return .fault("the consumer \(descriptor.name) refused with an undeclared reason")
        }
        return .failed(
            CallFailure(
                .permissionDenied, "The request is not allowed.", reason: reason, detail: detail,
                oauthError: "invalid_target"))
    }

    /// Whether all facts are among those that the consumer declares.
    private func states(_ facts: [Fact]) -> Bool {
        facts.allSatisfy { descriptor.facts.contains($0.name) }
    }

    private var undeclaredFact: CallOutcome { .fault("the consumer \(descriptor.name) states an undeclared fact") }
}
