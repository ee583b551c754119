package import AssayCore
package import AssayKit

/// What a plugin's decisions must be like to count.
extension PluginGuard {
    /// The most facts that a plugin may state of one decision: as many are left for those of the kernel.
    static let factLimit = DecisionRecord.factLimit / 2

    /// What is wrong with facts that a plugin vouches for; nil when nothing is.
    package func fault(in facts: [Fact], of kind: String) -> String? {
        guard facts.count <= PluginGuard.factLimit else {
            return "the \(kind) \(name) states more than \(PluginGuard.factLimit) facts"
        }
        if let fault = fault(inNamesOf: facts, of: kind) { return fault }
        var names: Set<ExactText> = []
        // A rule would judge one of them, and a record would have both.
        if let twice = facts.first(where: { !names.insert(ExactText($0.name.text)).inserted }) {
            return "the \(kind) \(name) states the fact \(twice.name.text) twice"
        }
        guard let wrong = facts.first(where: { !isWellTyped($0) }) else { return nil }
        return "the \(kind) \(name) states the fact \(wrong.name.text) with a value that is not of its type"
    }

    /// What is wrong with the names of the facts that count; nil when nothing is.
    package func fault(inNamesOf facts: [Fact], of kind: String) -> String? {
        let undeclared = facts.prefix(PluginGuard.factLimit).first { !descriptor.facts.contains($0.name) }
        return undeclared.map { "the \(kind) \(name) states an undeclared fact: \(SafeText.of($0.name.text))" }
    }

    private func declared(_ fact: Fact) -> FactName? { descriptor.facts.first { $0 == fact.name } }

    /// Whether the value of a fact is of the declared type.
    func isWellTyped(_ fact: Fact) -> Bool { declared(fact)?.type.admits(fact.value) ?? false }

    /// What is wrong with a reason; nil when nothing is.
    package func fault(in reason: Reason, of kind: String) -> String? {
        descriptor.reasons.contains(reason)
            ? nil : "the \(kind) \(name) refused with an undeclared reason: \(SafeText.of(reason.code))"
    }

    /// What is wrong with a reply; nil when nothing is.
    package func fault(in reply: JSON, of kind: String) -> String? {
        reply.fits(in: limits.reply)
            ? nil : "the \(kind) \(name) replies with more than \(limits.reply) bytes"
    }

    /// What is wrong with a provider's verdict; nil when nothing is.
    package func fault(in verdict: Verdict) -> String? {
        switch verdict {
        case .refused(let reason, _, let facts):
            // Who sent the evidence chose the values, and must not be able to make a fault of them.
            return fault(in: reason, of: "provider") ?? fault(inNamesOf: facts, of: "provider")
        case .verified(let appraisal):
            if let fault = fault(in: appraisal.facts, of: "provider") { return fault }
            var names = ProviderCall.kernelFields
            guard appraisal.reply.allSatisfy({ names.insert($0.name).inserted }) else {
                return "the provider \(name) replies with a duplicate field, or with one of the kernel's"
            }
            guard appraisal.tokenLifetime.map(TokenLifetime.isPossible) ?? true else {
                return "the provider \(name) asks for a token lifetime that is not allowed"
            }
            if let fault = fault(in: appraisal.uses) { return fault }
            guard !appraisal.reply.isEmpty else { return nil }
            return fault(in: .array(appraisal.reply.map(\.value)), of: "provider")
        }
    }

    /// What is wrong with what evidence uses up; nil when nothing is.
    private func fault(in uses: [EvidenceUse]) -> String? {
        guard !uses.isEmpty else { return nil }
        guard uses.count <= Appraisal.useLimit else {
            return "the provider \(name) uses up more than \(Appraisal.useLimit) things for one piece of evidence"
        }
        if let fault = StateChange.fault(in: uses.map(\.change)) { return "the provider \(name) uses up \(fault)" }
        guard uses.allSatisfy({ owns($0.change.key.space) }) else {
            return "the provider \(name) uses up what is in a namespace that is not its own"
        }
        for use in uses {
            if let fault = fault(in: use.reason, of: "provider") { return fault }
        }
        return nil
    }

    /// What is wrong with the challenge of a verdict; nil when nothing is.
    ///
    /// - Parameter findsChallenge: whether the method declares that its challenge is in its evidence: without one, the same evidence
    ///   would pass again.
    package func fault(in verdict: Verdict, findsChallenge: Bool) -> String? {
        guard case .verified(let appraisal) = verdict, (appraisal.challenge == nil) == findsChallenge else {
            return nil
        }
        return "the provider \(name) found \(findsChallenge ? "no" : "a") challenge, and its method says otherwise"
    }

    /// What is wrong with the uses of a verdict on evidence whose challenge is not stored; nil when nothing is.
    ///
    /// One of them must be remembered until the challenge ends. Otherwise the same evidence would pass again on another
    /// server: each remembers only the challenges that it saw itself.
    ///
    /// - Parameter end: when the challenge ends.
    package func fault(in verdict: Verdict, unstoredUntil end: Instant) -> String? {
        guard case .verified(let appraisal) = verdict else { return nil }
        guard !appraisal.uses.isEmpty else {
            return "the provider \(name) uses up nothing where the challenge is not stored"
        }
        let isRefusedAgain = appraisal.uses.contains { use in
            switch use.change {
            case .insert(_, _, let expires?, _): expires >= end
            case .insert, .advance: true
            }
        }
        guard !isRefusedAgain else { return nil }
        return "the provider \(name) uses up only what expires before the challenge does, at \(end), where the "
            + "challenge is not stored"
    }

    /// The response that an exchange chose by throwing it: only one that the descriptor lists, or that it cannot decide
    /// now.
    ///
    /// - Returns: the `CallFailure` that the client receives, or a `PluginFault`.
    package func answer(_ failure: CallFailure) -> any Error {
        let isListed = descriptor.answers.contains { $0.status == failure.status && $0.reason == failure.reason }
        if isListed { return failure }
        guard failure.status == .unavailable else {
            return PluginFault(
                "the provider \(name) answered an exchange with \(failure.status.rawValue) "
                    + (failure.reason.map { "and the reason \($0.code)" } ?? "and no reason")
                    + ", which is not in `answers` of its descriptor")
        }
        return CallFailure(
            .unavailable, CallOutcome.unavailableMessage, reason: nil, detail: failure.detail ?? failure.message,
            retryAfter: failure.retryAfter ?? .seconds(5))
    }
}
