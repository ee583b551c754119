internal import AssayKit
internal import AssayVerifier

extension ConsumerDispatch {
    /// Judges the token and the actor, lets the consumer decide, and uses the token up where that is demanded.
    ///
    /// A token that was used before gets no further than that. One that is good is used up when the consumer has decided,
    /// for or against: of several requests at the same time, one gets what the consumer gives. Where nothing could be
    /// decided the token stays good, for another try.
    func redeem(_ request: Redemption) async throws -> CallOutcome {
        guard request.demand.enforcement > .off else { return try await decide(request.answer, context(request.entry)) }
        let admission = admission(request.entry.project, request.demand)
        switch Result(catching: { () throws(TokenInspection.Refusal) in try admission.judge(request.token) }) {
        case .success(let good):
            var ending: CallOutcome
            // Before anybody is asked who takes time. The token shows that the peer has the app.
            if request.isLimited,
                let wait = good.app.bucket?.take(
                    at: host.clock.uptime, for: PeerGroup(call.peer), isVerified: true)
            {
                ending = .limited(wait: wait)
            } else {
                ending = await redeem(good, request, admission)
            }
            ending.provider = good.provider
            ending.app = good.token.subject
            ending.facts = good.facts + ending.facts
            return ending
        case .failure(let refusal):
            var ending =
                request.isEnforced ? ConsumerDispatch.ending(refusal) : await letThrough(request, in: refusal)
            ending.tokenUse = request.use(
                refusal.app(of: request.entry.project), request.token == nil ? .unknownOrigin : .invalid)
            return ending
        }
    }

    /// Has a request decided whose token is not good, where that is no reason to refuse it.
    private func letThrough(_ request: Redemption, in refusal: TokenInspection.Refusal) async -> CallOutcome {
        var ending: CallOutcome
        do {
            ending = try await decide(request.answer, context(request.entry, unenforced: refusal.reason))
        } catch {
            ending = ConsumerDispatch.ending(error)
        }
        ending.waived = Waived(refusal)
        ending.provider = refusal.token?.provider
        ending.facts = refusal.facts + ending.facts
        return ending
    }

    /// Has a request with a good token decided, and says how it is counted.
    private func redeem(
        _ good: TokenInspection.Good, _ request: Redemption, _ admission: TokenAdmission
    ) async -> CallOutcome {
        let consumption = admission.consumption(of: good)
        var ending: CallOutcome
        do {
            if case .immediate(let answer) = request.answer, request.actor == nil, consumption == nil {
                // Nobody is waited for: neither the store, nor an issuer of users, nor the consumer.
                ending = try Deadline.runAtOnce(timeLimit, clock: host.clock) {
                    try answer(context(request.entry, good: good))
                }
            } else {
                ending = try await Deadline.run(timeLimit, clock: host.clock) {
                    try await self.waiting(good, request, consumption)
                }
            }
        } catch {
            ending = ConsumerDispatch.ending(error)
        }
        if ending.tokenUse == nil {
            let isReused = ending.reason == KernelReasons.tokenReused
            ending.tokenUse = request.use(good.token.subject, isReused ? .reused : .verified)
        }
        return ending
    }

    /// The same for whatever may have to wait for somebody.
    private func waiting(
        _ good: TokenInspection.Good, _ request: Redemption, _ consumption: TokenConsumption?
    ) async throws -> CallOutcome {
        if let consumption, consumption.isStrict, try await consumption.isRepeated() {
            return ConsumerDispatch.reused(good)
        }
        var actor: VerifiedActor?
        var waived: Waived?
        do {
            actor = try await self.actor(request)
        } catch {
            // Another try with a better user's token may succeed.
            if request.isEnforced { return ConsumerDispatch.ending(error) }
            waived = Waived(error)
        }
        var ending = await answered(good, request, consumesToken: consumption != nil, actor)
        if let waived { ending.waived = waived }
        guard let consumption, ending.isDecided, try await !consumption.use() else { return ending }
        guard !consumption.isStrict else { return ConsumerDispatch.reused(good) }
        ending.tokenUse = request.use(good.token.subject, .reused)
        if ending.waived == nil { ending.waived = Waived(KernelReasons.tokenReused) }
        return ending
    }

    /// What the consumer says, or why it could not.
    private func answered(
        _ good: TokenInspection.Good, _ request: Redemption, consumesToken: Bool, _ actor: VerifiedActor?
    ) async -> CallOutcome {
        let context = context(request.entry, good: good, consumesToken: consumesToken, actor: actor)
        do {
            var ending = try await request.answer(context)
            if let actor { ending.facts.append(Fact(.actor, .text(SafeText.of(actor.subject)))) }
            return ending
        } catch {
            return ConsumerDispatch.ending(error)
        }
    }

    /// The user, by the JWT that the request shows beside its token.
    private func actor(_ request: Redemption) async throws -> VerifiedActor? {
        guard let token = request.actor else { return nil }
        return try await ActorInspection.inspect(token.text, for: request.entry, now: now)
    }

    /// Has the consumer decide about a request of which no token is judged.
    func decide(_ answer: ConsumerAnswer<CallOutcome>, _ context: ConsumerContext) async throws -> CallOutcome {
        switch answer {
        case .immediate(let answer):
            try Deadline.runAtOnce(timeLimit, clock: host.clock) { try answer(context) }
        case .waiting(let answer):
            try await Deadline.run(timeLimit, clock: host.clock) { try await answer(context) }
        }
    }

    func context(
        _ entry: ConsumerEntry, good: TokenInspection.Good? = nil, consumesToken: Bool = false,
        unenforced: Reason? = nil, actor: VerifiedActor? = nil
    ) -> ConsumerContext {
        ConsumerContext(
            decision: scope.decision, project: entry.project.identity, token: good?.token, app: good?.app.identity,
            consumesToken: consumesToken, unenforced: unenforced, actor: actor, deadline: now + timeLimit,
            peer: call.peer, caller: caller?.name, now: now, state: StateSpace(entry.space, in: host.store),
            tokens: ProjectTokens(dispatch: self, project: entry.project), logger: host.logger)
    }
}

/// What the kernel does with the tokens of one project, for a consumer.
private struct ProjectTokens: ConsumerTokens {
    let dispatch: ConsumerDispatch
    let project: ProjectEntry

    func sign(type: String, claims: JSON) throws -> String {
        try dispatch.snapshot.keys.issuer(at: dispatch.now).sign(type: type, claims)
    }

    func own(_ token: String) -> OwnToken? {
        dispatch.snapshot.keys.verifier(at: dispatch.now).signed(token).map {
            OwnToken(type: $0.type, claims: $0.claims)
        }
    }

    func inspect(_ token: String, _ demand: TokenDemand) async throws -> TokenFinding {
        try await judge(token, demand) { good, admission in
            guard let consumption = admission.consumption(of: good) else { return false }
            return try await !consumption.use() && consumption.isStrict
        }
    }

    func look(at token: String, _ demand: TokenDemand) async throws -> TokenFinding {
        try await judge(token, demand) { good, _ in try await good.isConsumedAnywhere(dispatch.scope) }
    }

    private func judge(
        _ token: String, _ demand: TokenDemand,
        isReused: (TokenInspection.Good, TokenAdmission) async throws -> Bool
    ) async throws -> TokenFinding {
        let admission = dispatch.admission(project, demand)
        let good: TokenInspection.Good
        do throws(TokenInspection.Refusal) {
            good = try admission.judge(token)
        } catch {
            return .refused(error.reason)
        }
        guard try await !isReused(good, admission) else { return .refused(KernelReasons.tokenReused) }
        return .good(good.token, good.app.identity)
    }
}
