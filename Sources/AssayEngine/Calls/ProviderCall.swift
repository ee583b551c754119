internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy

/// One call of a provider's method on an app, after the gate: issues challenges, has evidence appraised, and issues
/// tokens.
struct ProviderCall: Sendable {
    let scope: RequestScope
    let app: AppBinding
    let method: MethodBinding

    /// The namespace that records the use of challenges.
    static let challengeSpace = "challenges"
    /// The fields of a reply that a provider cannot set.
    static let kernelFields: Set<ExactText> = ["appCheckToken", "attestationToken", "token", "ttl"]

    private var provider: ProviderBinding { method.provider }
    private var name: String { method.provider.descriptor.name }

    /// Checks the rate limit, and calls the method.
    func answer() async -> CallOutcome {
        // The rate limit comes before expensive verification. Callers with a permission are known and few.
        if scope.caller == nil, let limited = scope.exceededRateLimit(of: app) { return limited }
        do {
            switch method.action {
            case .challenge: return issueChallenge()
            case .exchange(let prepare): return try await exchange(prepare)
            case .call(let prepare): return try await call(prepare)
            case .withheld: return .unavailable("a secret of the provider \(name) was not read")
            }
        } catch {
            return .ended(by: error)
        }
    }

    private func issueChallenge() -> CallOutcome {
        // One that was asked for just before the state began, or of a server whose clock is behind, counts as made then:
        // earlier ones count as used.
        let challenge = ChallengeIssuer.issue(
            for: provider.purpose, key: scope.snapshot.keys.sealingKey(at: scope.now),
            now: max(scope.now, scope.stateBeginning), randomness: scope.host.randomness)
        let isURLSafe = method.descriptor.challengeText == .base64URL
        let message: JSON = [
            "challenge": .string(isURLSafe ? Base64.encodeURL(challenge) : Base64.encode(challenge)),
            "ttl": .string("\(ChallengeIssuer.lifetime.wholeSeconds)s"),
        ]
        return .reply(message, .challenged)
    }

    private func call(
        _ prepare: @escaping @Sendable (RequestFields) throws(InvalidRequest) -> PreparedCall
    ) async throws -> CallOutcome {
        let fields = try method.fields(of: scope.call.body)
        let prepared = try await scope.reading(provider.pluginGuard) { try prepare(fields) }
        let (sealer, plugin) = (sealer, provider.pluginGuard)
        let fault = { (answer: CallAnswer) in
            plugin.fault(in: answer.facts, of: "provider") ?? plugin.fault(in: answer.reply, of: "provider")
        }
        func ask() async throws -> CallAnswer {
            try await scope.calling(plugin, provider.breaker, isFault: { !fault($0).isNil }) {
                try await prepared.answer(context(sealer, challenge: nil))
            }
        }
        let answer: CallAnswer
        do {
            answer = try await ask()
        } catch {
            guard try await sealer.learn() else { throw error }
            answer = try await ask()
        }
        if let fault = fault(answer) { throw PluginFault(fault) }
        return .answered(answer.reply, facts: answer.facts)
    }

    private func exchange(
        _ prepare: @escaping @Sendable (RequestFields) throws(InvalidRequest) -> PreparedExchange
    ) async throws -> CallOutcome {
        // No evidence is used up for a token that cannot be signed, or that may be denied.
        _ = try scope.issuer
        if let obstacle = scope.denials.obstacle(aboutEvidence: true, of: app.identity, at: scope.now) {
            return .unavailable(obstacle)
        }
        let fields = try method.fields(of: scope.call.body)
        let limitedUse = try fields.bool("limitedUse")
        let tokenID =
            method.descriptor.takesTokenID ? try RequestedTokenID.read(fields, limitedUse: limitedUse) : nil
        let prepared = try await scope.reading(provider.pluginGuard) { try prepare(fields) }
        let tape = tape
        var outcome = try await decide(prepared, tape, limitedUse: limitedUse, id: tokenID)
        if outcome.isAnswered, let refusal = await shadowRefusal(fields, challenge: prepared.challenge, tape) {
            outcome.rules.wouldRefuse.append(refusal)
        }
        if let tape { capture(outcome, challenge: prepared.challenge, tape) }
        return outcome
    }

    /// Has evidence appraised, and issues a token for it.
    private func decide(
        _ prepared: PreparedExchange, _ tape: CallTape?, limitedUse: Bool, id tokenID: String?
    ) async throws -> CallOutcome {
        let sealer = sealer
        var verdict: Verdict
        if let challenge = prepared.challenge {
            // The deadline covers all work that waits for the store or the provider.
            verdict = try await scope.withinDeadline {
                try await redeem(challenge, isStored: prepared.storesChallenge, tape) { unstoredUntil in
                    try await appraise(prepared, sealer, tape, unstoredUntil: unstoredUntil)
                }
            }
        } else {
            verdict = try await appraise(prepared, sealer, tape)
            if case .verified(let appraisal) = verdict, let challenge = appraisal.challenge {
                let found = verdict
                verdict = try await scope.withinDeadline {
                    try await redeem(challenge, isStored: true, tape) { _ in found }
                }
            } else if case .verified(let appraisal) = verdict, !appraisal.uses.isEmpty {
                verdict = try await scope.withinDeadline { try await appraisal.settled(in: scope.host.store, tape) }
            }
        }
        switch verdict {
        case .refused(let reason, let detail, let facts):
            if let error = sealer.undecided { return .unavailable("\(error)") }
            return .refused(reason.with(provider.refusalStatuses[reason.code]), detail: detail, facts: facts)
        case .verified(let appraisal):
            let judgement = scope.denials.judge(
                appraisal.facts, of: app.identity, by: name, rules: app.rules[ExactText(name)], at: scope.now)
            if case .judged(let rules) = judgement {
                RuleMetrics.count(rules, of: app.identity.subject, on: scope.host.meter)
            }
            var outcome =
                if let (reason, detail) = judgement.refusal {
                    CallOutcome.refused(reason, detail: detail, facts: appraisal.facts)
                } else {
                    try issueToken(appraisal, limitedUse: limitedUse, id: tokenID, mark: judgement.mark)
                }
            outcome.rules = judgement.findings
            if case .denied(_, let source) = judgement {
                outcome.denial = source
                return outcome
            }
            // Also refused by a rule, the evidence was genuine.
            scope.verifiedPeers.remember(PeerGroup(scope.call.peer), of: app.name, at: scope.host.clock.uptime)
            return outcome
        }
    }

    /// Lets the provider appraise evidence.
    ///
    /// - Parameter unstoredUntil: the end of a challenge whose use is not stored; nil for another, or none.
    /// - Throws: `PluginFault` for a verdict that does not count; why there is none.
    private func appraise(
        _ prepared: PreparedExchange, _ sealer: CallSealer, _ tape: CallTape?, unstoredUntil: Instant? = nil
    ) async throws -> Verdict {
        let verdict = try await appraiseOnce(prepared, sealer, tape, unstoredUntil: unstoredUntil)
        if case .refused(let reason, let detail, let facts) = verdict, let revocation = sealer.revocation {
            return .refused(
                reason, detail: [detail, revocation].compactMap(\.self).joined(separator: "; "), facts: facts)
        }
        // It may have been refused because of what another server sealed by a key that this one did not know.
        guard let unopened = sealer.unopened else { return verdict }
        guard case .refused = verdict, try await sealer.learn() else {
            tape?.note(opened: nil, of: unopened)
            return verdict
        }
        return try await appraiseOnce(prepared, sealer, tape, unstoredUntil: unstoredUntil)
    }

    private func appraiseOnce(
        _ prepared: PreparedExchange, _ sealer: CallSealer, _ tape: CallTape?, unstoredUntil: Instant?
    ) async throws -> Verdict {
        let plugin = provider.pluginGuard
        let fault = { (verdict: Verdict) in
            plugin.fault(in: verdict) ?? plugin.fault(in: verdict, findsChallenge: prepared.findsChallenge)
                ?? unstoredUntil.flatMap { plugin.fault(in: verdict, unstoredUntil: $0) }
        }
        let context = context(sealer, challenge: prepared.challenge, tape)
        let verdict: Verdict
        do {
            verdict = try await scope.calling(plugin, provider.breaker, isFault: { !fault($0).isNil }) {
                try await CallTape.recording(tape) { try await prepared.appraise(context) }
            }
        } catch let failure as CallFailure {
            let answer = plugin.answer(failure)
            if answer is PluginFault { plugin.countFault(scope.host) }
            throw answer
        }
        if let fault = fault(verdict) { throw PluginFault(fault) }
        return plugin.recordable(verdict)
    }
}

// MARK: - Challenges

extension ProviderCall {
    /// Appraises evidence that came with a challenge, which is valid only once, and uses both up.
    ///
    /// - Parameter isStored: whether the use of the challenge is remembered. If not, the evidence's own uses refuse it a
    ///   second time, and nothing else was made for the challenge.
    private func redeem(
        _ challenge: [UInt8], isStored: Bool, _ tape: CallTape?,
        appraise: (_ unstoredUntil: Instant?) async throws -> Verdict
    ) async throws -> Verdict {
        let thing: OneTimeThing
        switch try await inspect(challenge) {
        case .refused(let reason):
            let key = ChallengeIssuer.keyIdentifier(of: challenge)
            return .refused(
                reason,
                detail: reason == KernelReasons.challengeForged ? scope.snapshot.keys.revocation(of: key) : nil)
        case .genuine(let name, let made): thing = OneTimeThing(name, made: made)
        }
        let uses = scope.uses(of: ChallengeIssuer.kind, in: ProviderCall.challengeSpace)
        guard !uses.isOlderThanState(thing) else {
            return .refused(
                KernelReasons.challengeAlreadyUsed,
                detail: "it was made before the state began, so it is unknown whether it was used")
        }
        guard !scope.failedChallenges.contains(challenge), !scope.spentChallenges.contains(challenge) else {
            return .refused(KernelReasons.challengeAlreadyUsed)
        }
        // Evidence that is used up by itself is verified more cheaply than another server is asked.
        if isStored, try await uses.isUsed(thing) { return .refused(KernelReasons.challengeAlreadyUsed) }
        var verdict = try await appraise(isStored ? nil : thing.made.map { $0 + ChallengeIssuer.lifetime })
        if case .verified(let appraisal) = verdict {
            // Of concurrent exchanges with one challenge, the store lets only one pass.
            let own = EvidenceUse(uses.change(for: thing), otherwise: KernelReasons.challengeAlreadyUsed)
            verdict = try await appraisal.settled(with: isStored ? [own] : [], in: scope.host.store, tape)
        }
        switch verdict {
        case .refused: scope.failedChallenges.remember(challenge, of: PeerGroup(scope.call.peer))
        case .verified: scope.spentChallenges.remember(challenge, of: PeerGroup(scope.call.peer))
        }
        return verdict
    }

    /// Judges a challenge, with newer keys if the snapshot's keys do not include the challenge's.
    private func inspect(_ challenge: [UInt8]) async throws -> ChallengeIssuer.Inspection {
        let keys = scope.snapshot.keys
        let inspection = ChallengeIssuer.inspect(
            challenge, for: provider.purpose, keys: keys.openers, now: scope.now)
        guard inspection == .refused(KernelReasons.challengeForged),
            let newer = try await scope.live.keys(toKnow: ChallengeIssuer.keyIdentifier(of: challenge), beyond: keys)
        else { return inspection }
        return ChallengeIssuer.inspect(challenge, for: provider.purpose, keys: newer.openers, now: scope.now)
    }
}

// MARK: - Tokens

extension ProviderCall {
    private func issueToken(
        _ appraisal: Appraisal, limitedUse: Bool, id: String?, mark: String?
    ) throws -> CallOutcome {
        let token = try scope.issuer.issue(
            app.claims, provider: name, isForDevelopment: provider.descriptor.isForDevelopment,
            lifetime: appraisal.tokenLifetime ?? provider.tokenLifetime, limitedUse: limitedUse,
            id: id.map { ChosenTokenID($0, by: appraisal.holder ?? "", through: name) },
            attester: AttesterTag.first(of: appraisal.facts).map {
                ($0, scope.snapshot.keys.sealingKey(at: scope.now))
            },
            mark: mark, confirmation: appraisal.confirmation, state: scope.stateMark, now: scope.now,
            randomness: scope.host.randomness)
        return .reply(
            message(token, appraisal),
            .issued(tokenID: token.id, limitedUse: limitedUse, expires: token.expires), facts: appraisal.facts)
    }

    /// The reply: the token alone, or next to the provider's own fields.
    private func message(_ token: SignedToken, _ appraisal: Appraisal) -> JSON {
        let version = scope.call.version
        guard case .exchange(.enclosed) = method.descriptor.kind else { return token.message(version) }
        var members = appraisal.reply.map { JSONMember($0.name, $0.value) }
        members.append(JSONMember("appCheckToken", token.message(version)))
        if version == .v1beta {
            members.append(
                JSONMember(
                    "attestationToken",
                    ["attestationToken": .string(token.text), "ttl": .string("\(token.lifetime.wholeSeconds)s")]))
        }
        return .object(members)
    }
}

// MARK: - The provider's view

extension ProviderCall {
    private var sealer: CallSealer {
        CallSealer(
            purpose: provider.purpose, keys: scope.snapshot.keys, live: scope.live, now: scope.now,
            randomness: scope.host.randomness)
    }

    /// The context of a provider with shadow settings.
    func shadowContext(challenge: [UInt8]?) -> ProviderContext { context(sealer, challenge: challenge) }

    private func context(_ sealer: CallSealer, challenge: [UInt8]?, _ tape: CallTape? = nil) -> ProviderContext {
        ProviderContext(
            decision: scope.decision, app: app.identity, challenge: challenge, deadline: scope.deadline,
            peer: scope.call.peer, caller: scope.caller?.name, now: scope.now,
            state: StateSpace(provider.space, in: provider.store, since: scope.stateBeginning),
            appState: StateSpace(provider.appSpace, in: provider.store, since: scope.stateBeginning),
            pluginState: StateSpace(provider.descriptor.name, in: provider.store, since: scope.stateBeginning),
            sealer: Sealer(
                seal: { try sealer.seal($0) },
                open: { sealed in
                    let content = sealer.open(sealed)
                    if sealer.unopened == nil { tape?.note(opened: content, of: sealed) }
                    return content
                }), logger: scope.host.logger,
            clock: scope.host.clock,
            wasVerified: { [verifiedPeers = scope.verifiedPeers, uptime = scope.host.clock.uptime, name = app.name] in
                verifiedPeers.contains($0, of: name, at: uptime)
            })
    }
}
