internal import AssayKit
internal import AssayVerifier
internal import Logging

extension ConsumerDispatch {
    /// Answers a request without a token.
    func answer(_ prepared: PreparedRedemption, _ entry: ConsumerEntry) async throws -> Ending {
        let project = try project(of: entry)
        return try await Deadline.run(timeLimit, clock: host.clock) {
            try settle(await prepared.answer(context(entry, project)), entry)
        }
    }

    /// Answers a request with a token, or without where the policy does not enforce one.
    func redeem(_ prepared: PreparedRedemption, _ entry: ConsumerEntry) async throws -> Ending {
        var demand = prepared.demand(entry.demand)
        if !prepared.mayBeUnenforced { demand.enforcement = .enforced }
        let project = try project(of: entry)
        let service = prepared.service ?? entry.descriptor.name
        return try await redeem(entry, project, demand, service: service, isLimited: !prepared.mayBeUnenforced) {
            context in try settle(await prepared.answer(context), entry)
        }
    }

    /// Judges the token and the actor, lets the consumer decide, and uses the token up where that is demanded.
    ///
    /// A token that was used before gets no further than that. One that is good is used up when the consumer has decided,
    /// for or against: of several requests at the same time, one gets what the consumer gives. Where nothing could be
    /// decided the token stays good, for another try.
    ///
    /// - Parameters:
    ///   - service: what the request is counted for.
    ///   - isLimited: whether it counts as a call for the app, of which the policy may let only some through.
    func redeem(
        _ entry: ConsumerEntry, _ project: ProjectEntry, _ demand: TokenDemand, service: String, isLimited: Bool,
        _ answer: @escaping @Sendable (ConsumerContext) async throws -> Ending
    ) async throws -> Ending {
        let admission = admission(project, demand)
        let use = { @Sendable (app: String?, category: TokenUse.Category, isAdmitted: Bool) in
            TokenUse(
                project: project.identity.number, service: service, app: app, category: category,
                enforcement: demand.enforcement, isAdmitted: isAdmitted)
        }
        guard demand.enforcement > .off else {
            return try await Deadline.run(timeLimit, clock: host.clock) { try await answer(context(entry, project)) }
        }
        let isEnforced = demand.enforcement == .enforced
        let good: TokenInspection.Good
        do throws(TokenInspection.Refusal) {
            good = try admission.judge(call.token)
        } catch {
            let category: TokenUse.Category = call.token == nil ? .unknownOrigin : .invalid
            let counted = use(error.app(of: project), category, !isEnforced)
            guard isEnforced else {
                let refusal = error
                var ending = try await Deadline.run(timeLimit, clock: host.clock) {
                    try await answer(context(entry, project, unenforced: refusal.reason))
                }
                ending.tokenUse = counted
                return ending
            }
            var ending = ConsumerDispatch.ending(error)
            ending.tokenUse = counted
            return ending
        }
        // Before anybody is asked who takes time.
        if isLimited, let wait = good.app.bucket?.take(at: host.clock.uptime) { return .limited(wait: wait) }
        var ending = try await Deadline.run(timeLimit, clock: host.clock) { () async throws -> Ending in
            let consumes = admission.consumes(good.token)
            // What is not enforced never stands in the way.
            let isStrict = isEnforced && (good.token.isLimitedUse || demand.replayProtection == .enforced)
            if consumes, isStrict, try await admission.wasUsed(good) { return ConsumerDispatch.reused(good) }
            var ending: Ending
            do {
                let actor: VerifiedActor?
                do {
                    actor = try await self.actor(entry)
                } catch  where isEnforced {
                    // Another try with a better user's token may succeed.
                    return ConsumerDispatch.ending(error)
                } catch {
                    actor = nil
                }
                ending = try await answer(
                    context(entry, project, good: good, consumesToken: consumes, actor: actor))
                if let actor { ending.facts.append(Fact(.actor, .text(SafeText.of(actor.subject)))) }
            } catch {
                // Whose token it was is put on record with that, too.
                ending = ConsumerDispatch.ending(error)
            }
            guard consumes, ending.isDecided else { return ending }
            if isStrict {
                guard try await admission.consume(good) else { return ConsumerDispatch.reused(good) }
            } else {
                let isFirst = try? await Deadline.run(timeLimit / 4, clock: host.clock) {
                    try await admission.consume(good)
                }
                if isFirst == false { ending.tokenUse = use(good.token.subject, .reused, true) }
            }
            return ending
        }
        if ending.tokenUse == nil {
            let isReused = ending.reason == KernelReasons.tokenReused
            ending.tokenUse = use(good.token.subject, isReused ? .reused : .verified, !isReused)
        }
        ending.provider = good.provider
        ending.facts = good.facts + ending.facts
        return ending
    }

    /// The user, by the JWT that the request shows beside its token.
    private func actor(_ entry: ConsumerEntry) async throws -> VerifiedActor? {
        guard let credentials = call.credentials, !entry.actors.isEmpty, caller == nil else { return nil }
        return try await ActorInspection.inspect(credentials.text, for: entry, now: now)
    }

    func settle(_ verdict: ConsumerVerdict, _ entry: ConsumerEntry) throws -> Ending {
        switch verdict {
        case .granted(let reply):
            guard reply.facts.allSatisfy({ entry.descriptor.facts.contains($0.name) }) else {
                return .fault("the consumer \(entry.descriptor.name) states an undeclared fact")
            }
            return .answered(reply.message, facts: reply.facts)
        case .refused(let reason, let detail):
            return refused(reason, detail, entry)
        }
    }

    func refused(_ reason: Reason, _ detail: String?, _ entry: ConsumerEntry) -> Ending {
        guard entry.descriptor.reasons.contains(reason) else {
            return .fault("the consumer \(entry.descriptor.name) refused with an undeclared reason")
        }
        return .failed(
            CallFailure(
                .permissionDenied, "The request is not allowed.", reason: reason, detail: detail,
                oauthError: "invalid_target"))
    }

    func context(
        _ entry: ConsumerEntry, _ project: ProjectEntry, good: TokenInspection.Good? = nil,
        consumesToken: Bool = false, unenforced: Reason? = nil, actor: VerifiedActor? = nil
    ) -> ConsumerContext {
        var logger = host.logger
        logger[metadataKey: "decision"] = "\(decision)"
        return ConsumerContext(
            decision: decision, project: project.identity, token: good?.token, app: good?.app.identity,
            consumesToken: consumesToken, unenforced: unenforced, actor: actor, deadline: now + timeLimit,
            peer: call.peer, caller: caller?.name, now: now, state: StateSpace(entry.space, in: host.store),
            tokens: tokens(project), logger: logger)
    }

    private func tokens(_ project: ProjectEntry) -> ConsumerTokens {
        let keys = snapshot.keys
        return ConsumerTokens(
            sign: { type, claims in try keys.issuer(at: now).sign(type: type, claims) },
            read: { text in
                keys.verifier(at: now).signed(text).map { ConsumerTokens.Own(type: $0.type, claims: $0.claims) }
            },
            inspect: { text, demand in
                let admission = admission(project, demand)
                let good: TokenInspection.Good
                do throws(TokenInspection.Refusal) {
                    good = try admission.judge(text)
                } catch {
                    return .refused(error.reason)
                }
                // Nobody asks for replay protection who only looks.
                guard demand.replayProtection > .off else {
                    if good.token.isLimitedUse, try await admission.wasUsed(good) {
                        return .refused(KernelReasons.tokenReused)
                    }
                    return .good(good.token, good.app.identity)
                }
                guard try await admission.consume(good) || demand.replayProtection < .enforced else {
                    return .refused(KernelReasons.tokenReused)
                }
                return .good(good.token, good.app.identity)
            })
    }
}

extension ConsumerDispatch {
    /// Whose token is no token of this project is told to bring another; whose good token is not enough here, that it is
    /// not allowed.
    static func failure(_ refusal: TokenInspection.Refusal) -> CallFailure {
        let isPolicy =
            [
                KernelReasons.tokenProviderNotAllowed, KernelReasons.tokenAppNotAllowed,
                KernelReasons.tokenForDevelopment,
                KernelReasons.tokenNotLimitedUse, KernelReasons.tokenTooOld, KernelReasons.tokenReused,
            ].contains(refusal.reason)
        return CallFailure(
            isPolicy ? .permissionDenied : .unauthenticated,
            isPolicy ? "The App Check token is not sufficient." : "The App Check token is missing or invalid.",
            reason: refusal.reason, detail: refusal.detail, oauthError: "invalid_request")
    }

    static func ending(_ refusal: TokenInspection.Refusal) -> Ending {
        var ending = Ending.failed(failure(refusal))
        ending.provider = refusal.token?.provider
        ending.facts = refusal.token.map { [Fact(.app, .text($0.subject)), Fact(.tokenID, .text($0.id))] } ?? []
        return ending
    }

    static func reused(_ good: TokenInspection.Good) -> Ending {
        .failed(failure(TokenInspection.Refusal(reason: KernelReasons.tokenReused, token: good.token)))
    }
}

extension Ending {
    /// Whether something was given or refused: not where a request was not of the form, or nobody could decide.
    var isDecided: Bool {
        switch outcome {
        case .answered, .challenged, .issued, .refused: true
        case .rejected, .failed: false
        }
    }

    /// Why evidence or a token was refused.
    var reason: Reason? {
        if case .refused(let reason) = outcome { reason } else { nil }
    }
}
