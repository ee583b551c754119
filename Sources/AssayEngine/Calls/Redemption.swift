package import AssayCore
internal import AssayKit
internal import AssayVerifier

/// A request to a consumer that carries a token, or may lack one if the policy does not enforce it: its token, the
/// demand, and the answer once the demand is met.
struct Redemption: Sendable {
    let consumer: ConsumerBinding
    let token: PresentedToken?
    /// The user's JWT; nil when there is none, or when the section trusts no issuer.
    let actor: BearerToken?
    var demand: TokenDemand
    /// The service that the request is counted for.
    let service: String
    /// Whether it counts towards the rate limit of the app's policy.
    let isLimited: Bool
    let answer: ConsumerAnswer
    /// Whether the answer is a refusal, whatever the token is.
    var isRefused = false
    /// The demand of a request that speaks for an OAuth client, where administrators have set another level for that.
    var demandOfClient: (@Sendable (String) -> TokenDemand?)?

    var isEnforced: Bool { demand.enforcement == .enforced }

    /// How it is counted.
    func use(_ app: String?, _ category: TokenUse.Category) -> TokenCount {
        TokenCount(
            project: consumer.project.identity.number, service: service, app: app, category: category,
            enforcement: demand.enforcement)
    }
}

extension Redemption {
    /// Makes the request from what a consumer's method has read.
    init(
        _ prepared: PreparedRequest, _ method: ConsumerInstance.Method, _ consumer: ConsumerBinding,
        _ scope: RequestScope, _ levels: SetLevels?
    ) {
        self.init(
            consumer: consumer, token: scope.call.token,
            // If a permission was checked, the credentials are the caller's and name no user.
            actor: scope.caller == nil && !consumer.actors.isEmpty && !prepared.isRefused
                ? scope.call.credentials : nil,
            demand: consumer.demand(of: prepared, by: method, levels: levels?.ofService),
            service: prepared.service ?? consumer.descriptor.name, isLimited: !method.allowsUnenforced,
            answer: .prepared(prepared.answer), isRefused: prepared.isRefused)
        if let levels {
            demandOfClient = { client in
                levels.of(client: client).map { consumer.demand(of: prepared, by: method, levels: $0) }
            }
        }
    }

    /// The same with the demand for a client, which the token names.
    fileprivate func about(_ client: String?) -> Redemption {
        guard let demand = client.flatMap({ demandOfClient?($0) }) else { return self }
        var request = self
        request.demand = demand
        return request
    }
}

/// The levels of an editable service, as administrators have set them.
struct SetLevels: Sendable {
    let service: ProjectService
    let services: ProjectServices
    let state: ProtectionState

    var ofService: ServiceLevels { services.levels(of: service, state) }

    /// The levels of one OAuth client within the service; nil when none were set.
    func of(client: String) -> ServiceLevels? {
        services.level(ofClient: client, in: service.id, state).map { ofService.lowered(to: $0) }
    }
}

/// The answer to a request to a consumer.
enum ConsumerAnswer: Sendable {
    case prepared(PreparedRequest.Answer)
    case exchange(TokenExchangeRequest, ConsumerInstance.Exchange)
}

extension ConsumerCall {
    /// Judges the token and the actor, lets the consumer decide, and consumes the token if that is demanded.
    ///
    /// A token that was used before is refused before the consumer decides. A valid token is consumed after the
    /// consumer has allowed the request: of concurrent requests, one gets the consumer's answer. If the consumer refuses the
    /// request for what it asks, or no decision could be made, the token is not consumed, and another request may have it.
    nonisolated(nonsending) func redeem(_ request: Redemption) async -> CallOutcome {
        guard request.demand.enforcement > .off else {
            return await unread(request)
        }
        let project = request.consumer.project
        let inspection = TokenInspection(scope: scope, project: project, demand: request.demand)
        switch Result(catching: { () throws(TokenInspection.Refusal) in try inspection.judge(request.token) }) {
        case .success(let accepted):
            let request = request.about(accepted.token.subject)
            guard request.demand.enforcement > .off else {
                return await unread(request)
            }
            let admission = TokenInspection(scope: scope, project: project, demand: request.demand)
            var outcome: CallOutcome
            // The rate limit comes before slow work. The token shows that the peer has the app.
            if request.isLimited, let limited = scope.exceededRateLimit(of: accepted.app, isVerified: true) {
                outcome = limited
            } else {
                outcome = await redeem(accepted, request, admission)
            }
            outcome.provider = accepted.provider
            outcome.app = accepted.token.subject
            outcome.facts = accepted.facts + outcome.facts
            return outcome
        case .failure(let refusal):
            let request = request.about(refusal.token?.subject)
            guard request.demand.enforcement > .off else {
                return await unread(request)
            }
            let isDecided = request.isEnforced && !request.isRefused
            var outcome = isDecided ? CallOutcome(refusal) : await letThrough(request, in: refusal)
            outcome.tokenUse = request.use(
                refusal.app(of: project), request.token == nil ? .unknownOrigin : .invalid)
            return outcome
        }
    }

    /// Lets the consumer decide about a request whose token does not matter.
    private nonisolated(nonsending) func unread(_ request: Redemption) async -> CallOutcome {
        await decide(request.answer, by: request.consumer, context(request.consumer, enforcement: .off))
    }

    /// Lets the consumer decide about a request whose token is invalid, if the demand is not enforced, or if the consumer refuses
    /// the request in any case.
    private func letThrough(_ request: Redemption, in refusal: TokenInspection.Refusal) async -> CallOutcome {
        let consumer = request.consumer
        var outcome = await decide(
            request.answer, by: consumer,
            context(consumer, enforcement: request.demand.enforcement, unenforced: refusal.reason))
        if !request.isEnforced { outcome.waived = Waived(refusal) }
        outcome.provider = refusal.token?.provider
        outcome.facts = refusal.facts + outcome.facts
        outcome.isAboutGenuineToken = refusal.token != nil
        return outcome
    }

    /// Lets the consumer decide about a request with a valid token, and tells how it is counted.
    private nonisolated(nonsending) func redeem(
        _ accepted: TokenInspection.Accepted, _ request: Redemption, _ admission: TokenInspection
    ) async -> CallOutcome {
        let consumption = request.isRefused ? nil : admission.consumption(of: accepted)
        var outcome: CallOutcome
        do {
            if case .prepared(.immediate(let answer)) = request.answer, request.actor == nil, consumption == nil,
                !request.consumer.pluginGuard.isIsolated
            {
                // Nothing here waits for the store, for an issuer of users or for the consumer.
                outcome = try scope.withoutWaiting {
                    request.consumer.settle(
                        try answer(
                            context(request.consumer, accepted: accepted, enforcement: request.demand.enforcement)))
                }
            } else {
                outcome = try await scope.withinDeadline { try await self.waiting(accepted, request, consumption) }
            }
        } catch {
            outcome = .ended(by: error)
        }
        if outcome.tokenUse == nil {
            let isReused = outcome.reason == KernelReasons.tokenReused
            outcome.tokenUse = request.use(accepted.token.subject, isReused ? .reused : .verified)
        }
        return outcome
    }

    /// The same for requests that may have to wait.
    private func waiting(
        _ accepted: TokenInspection.Accepted, _ request: Redemption, _ consumption: TokenConsumption?
    ) async throws -> CallOutcome {
        if let consumption, consumption.isStrict {
            let finding = try await consumption.find()
            if finding != .first { return .reused(accepted, finding) }
        }
        var actor: VerifiedActor?
        var waived: Waived?
        do {
            if let token = request.actor {
                actor = try await VerifiedActor(token.text, for: request.consumer, now: scope.now)
            }
        } catch {
            // Another try with a valid user's token may succeed.
            if request.isEnforced { return .ended(by: error) }
            waived = Waived(error)
        }
        var outcome = await answered(accepted, request, consumesToken: consumption != nil, actor)
        if let waived { outcome.waived = waived }
        guard let consumption, outcome.isDecided, outcome.reason == nil, case let finding = try await consumption.use(),
            finding != .first
        else { return outcome }
        guard !consumption.isStrict else { return .reused(accepted, finding) }
        outcome.tokenUse = request.use(accepted.token.subject, .reused)
        if outcome.waived == nil { outcome.waived = Waived(KernelReasons.tokenReused) }
        return outcome
    }

    /// The consumer's answer, or the error that prevented it.
    private func answered(
        _ accepted: TokenInspection.Accepted, _ request: Redemption, consumesToken: Bool, _ actor: VerifiedActor?
    ) async -> CallOutcome {
        let context = context(
            request.consumer, accepted: accepted, consumesToken: consumesToken, enforcement: request.demand.enforcement,
            actor: actor)
        do {
            var outcome = try await answer(request.answer, by: request.consumer, context)
            if let actor { outcome.facts.append(Fact(.actor, .text(SafeText.of(actor.subject)))) }
            return outcome
        } catch {
            return .ended(by: error)
        }
    }

    /// Lets the consumer decide about a request whose token is not judged.
    nonisolated(nonsending) func decide(
        _ answer: ConsumerAnswer, by consumer: ConsumerBinding, _ context: ConsumerContext
    ) async -> CallOutcome {
        do {
            if case .prepared(.immediate(let answer)) = answer, !consumer.pluginGuard.isIsolated {
                return try scope.withoutWaiting { consumer.settle(try answer(context)) }
            }
            return try await self.answer(answer, by: consumer, context)
        } catch {
            return .ended(by: error)
        }
    }

    func context(
        _ consumer: ConsumerBinding, accepted: TokenInspection.Accepted? = nil, consumesToken: Bool = false,
        enforcement: EnforcementMode = .enforced, unenforced: Reason? = nil, actor: VerifiedActor? = nil
    ) -> ConsumerContext {
        ConsumerContext(
            decision: scope.decision, project: consumer.project.identity, token: accepted?.token,
            app: accepted?.app.identity, consumesToken: consumesToken, enforcement: enforcement, unenforced: unenforced,
            actor: actor,
            deadline: scope.deadline, peer: scope.call.peer, caller: scope.caller?.name, now: scope.now,
            state: StateSpace(consumer.space, in: consumer.store, since: scope.stateBeginning),
            pluginState: StateSpace(consumer.descriptor.name, in: consumer.store, since: scope.stateBeginning),
            tokens: ProjectTokens(scope: scope, consumer: consumer), logger: scope.host.logger,
            clock: scope.host.clock)
    }
}

extension ConsumerCall {
    /// Has the consumer answer, within its limits.
    private func answer(
        _ answer: ConsumerAnswer, by consumer: ConsumerBinding, _ context: ConsumerContext
    ) async throws -> CallOutcome {
        try await scope.calling(consumer.pluginGuard, consumer.breaker, isFault: \.isFault) {
            switch answer {
            case .prepared(let answer): consumer.settle(try await answer(context))
            case .exchange(let request, let exchange): consumer.settle(try await exchange(request, context))
            }
        }
    }
}

extension VerifiedActor {
    /// Verifies a user's JWT.
    ///
    /// - Throws: `CallFailure` for an invalid JWT; `KeysUnavailable` when no decision is possible now.
    fileprivate init(_ token: String, for consumer: ConsumerBinding, now: Instant) async throws {
        guard let token = try? UnverifiedJWT(token), let name = token.claims.issuer else {
            throw CallFailure(actor: KernelReasons.actorMalformed)
        }
        guard let issuer = consumer.actors[name] else {
            throw CallFailure(
                actor: KernelReasons.actorIssuerUnknown,
                token.explanationOfIssuer(expected: consumer.actors.keys.map(\.string)))
        }
        do throws(any Error) {
            let claims = try await issuer.verify(token, types: ["jwt", "at+jwt", "application/at+jwt"], now: now)
            guard let subject = claims.subject, !subject.isEmpty else {
                throw CallFailure(actor: KernelReasons.actorInvalid, "it names no subject")
            }
            self.init(issuer: name, subject: subject, claims: claims.json)
        } catch let fault as JWTFault {
            throw CallFailure(
                actor: fault == .expired ? KernelReasons.actorExpired : KernelReasons.actorInvalid,
                issuer.explanation(of: fault, in: token, now: now))
        }
    }
}

extension CallFailure {
    /// The outcome for a refused user's token.
    package init(actor reason: Reason, _ detail: String? = nil) {
        self.init(
            .unauthenticated, "The user's token is invalid.", reason: reason, detail: detail,
            oauthError: "invalid_request")
    }
}
