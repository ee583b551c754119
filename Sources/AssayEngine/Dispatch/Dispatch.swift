internal import AssayCrypto
internal import AssayKit

/// One call on its way through one snapshot.
struct Dispatch: Sendable {
    let scope: DecisionScope
    /// Where newer keys are to be had than the snapshot's.
    let live: LiveSnapshot
    let call: Call
    /// Whose permission was checked; nil where none is demanded.
    let caller: Caller?
    let failedChallenges: FailedChallenges
    let verifiedPeers: VerifiedPeers

    private var snapshot: Snapshot { scope.snapshot }
    private var now: Instant { scope.now }
    private var host: PluginHost { scope.host }
    private var timeLimit: Duration { scope.timeLimit }

    init(
        _ scope: DecisionScope, live: LiveSnapshot, call: Call, caller: Caller?, failedChallenges: FailedChallenges,
        verifiedPeers: VerifiedPeers
    ) {
        self.scope = scope
        self.live = live
        self.call = call
        self.caller = caller
        self.failedChallenges = failedChallenges
        self.verifiedPeers = verifiedPeers
    }

    /// Where the consumption of challenges is recorded.
    static let challengeSpace = "challenges"
    /// The fields of a reply that a provider cannot set.
    private static let kernelFields: Set<ExactText> = ["appCheckToken", "attestationToken", "token", "ttl"]

    /// Calls a method of a provider on an app that was found.
    func run(_ entry: MethodEntry, of app: AppEntry) async -> CallOutcome {
        do {
            switch entry.method.action {
            case .challenge:
                return issueChallenge(entry.provider)
            case .exchange(let prepare):
                return try await exchange(prepare, entry, app)
            case .call(let prepare):
                return try await answer(prepare, entry, app)
            }
        } catch let error as InvalidRequest {
            return .rejected(.invalidArgument, error.message)
        } catch let error as CallFailure {
            return .failed(error)
        } catch {
            return .unavailable("\(error)")
        }
    }

    private func issueChallenge(_ provider: ProviderEntry) -> CallOutcome {
        let challenge = ChallengeIssuer.issue(
            for: provider.purpose, key: snapshot.keys.sealingKey(at: now), now: now, randomness: host.randomness)
        let message: JSON = [
            "challenge": .string(Base64.encode(challenge)),
            "ttl": .string("\(ChallengeIssuer.lifetime.wholeSeconds)s"),
        ]
        return .reply(message, .challenged)
    }

    /// Calls a method of the kernel on a resource that was found.
    func run(_ method: KernelMethod, on resource: FoundResource) async -> CallOutcome {
        do {
            let call = KernelCall(
                scope: scope, call: call, fields: try RequestFields(call.body), resource: resource, caller: caller)
            return try await Deadline.run(timeLimit, clock: host.clock) { try await method.answer(call) }
        } catch let error as InvalidRequest {
            return .rejected(.invalidArgument, error.message)
        } catch let error as CallFailure {
            return .failed(error)
        } catch {
            return .unavailable("\(error)")
        }
    }

    private func answer(
        _ prepare: @Sendable (RequestFields) throws(InvalidRequest) -> PreparedCall, _ entry: MethodEntry,
        _ app: AppEntry
    ) async throws -> CallOutcome {
        let prepared = try prepare(try RequestFields(call.body, bytesLimit: entry.provider.descriptor.evidenceLimit))
        let sealer = sealer(entry.provider)
        let answer = try await Deadline.run(timeLimit, clock: host.clock) { () async throws -> CallAnswer in
            try await prepared.answer(context(app, entry.provider, sealer, challenge: nil))
        }
        guard answer.facts.allSatisfy({ entry.provider.descriptor.facts.contains($0.name) }) else {
            return .fault("the provider \(entry.provider.descriptor.name) states an undeclared fact")
        }
        return .answered(answer.reply, facts: answer.facts)
    }

    private func exchange(
        _ prepare: @Sendable (RequestFields) throws(InvalidRequest) -> PreparedExchange, _ entry: MethodEntry,
        _ app: AppEntry
    ) async throws -> CallOutcome {
        let provider = entry.provider
        let fields = try RequestFields(call.body, bytesLimit: provider.descriptor.evidenceLimit)
        let limitedUse = try fields.bool("limitedUse")
        let tokenID =
            entry.method.descriptor.takesTokenID ? try RequestedTokenID.read(fields, limitedUse: limitedUse) : nil
        let prepared = try prepare(fields)
        let sealer = sealer(provider)
        let states = { (facts: [Fact]) in facts.allSatisfy { provider.descriptor.facts.contains($0.name) } }
        let undeclaredFact = CallOutcome.fault("the provider \(provider.descriptor.name) states an undeclared fact")
        // Within the deadline stands everything that waits for somebody else: the store and the provider.
        let verdict = try await Deadline.run(timeLimit, clock: host.clock) { () async throws -> Verdict in
            let context = context(app, provider, sealer, challenge: prepared.challenge)
            guard let challenge = prepared.challenge else { return try await prepared.appraise(context) }
            return try await redeem(challenge, provider) { try await prepared.appraise(context) }
        }
        switch verdict {
        case .refused(let reason, let detail, let facts):
            if let error = sealer.undecided { return .unavailable("\(error)") }
            guard KernelReasons.challenges.contains(reason) || provider.descriptor.reasons.contains(reason) else {
                return .fault("the provider \(provider.descriptor.name) refused with an undeclared reason")
            }
            guard states(facts) else { return undeclaredFact }
            return .refused(reason, detail: detail, facts: facts)
        case .verified(let appraisal):
            guard states(appraisal.facts) else { return undeclaredFact }
            var names = Dispatch.kernelFields
            guard appraisal.reply.allSatisfy({ names.insert($0.name).inserted }) else {
                return .fault(
                    "the provider \(provider.descriptor.name) replies with a field twice, or with the kernel's")
            }
            guard appraisal.tokenLifetime.map(TokenLifetime.isPossible) ?? true else {
                return .fault("the provider \(provider.descriptor.name) wants a token of an impossible life")
            }
            let ending = try issueToken(appraisal, entry, app, limitedUse: limitedUse, id: tokenID)
            verifiedPeers.remember(PeerGroup(call.peer), of: app.name, at: host.clock.uptime)
            return ending
        }
    }

    /// Appraises evidence that came with a challenge, which is good for this one time.
    private func redeem(
        _ challenge: [UInt8], _ provider: ProviderEntry, appraise: () async throws -> Verdict
    ) async throws -> Verdict {
        let name: String
        let forgetAt: Instant
        switch try inspect(challenge, provider) {
        case .refused(let reason): return .refused(reason)
        case .genuine(let genuine, let end): (name, forgetAt) = (genuine, end)
        }
        let key = StateKey(Dispatch.challengeSpace, name)
        guard forgetAt - ChallengeIssuer.lifetime - ChallengeIssuer.memory >= scope.stateBeginning else {
            return .refused(
                KernelReasons.challengeAlreadyUsed,
                detail: "it was made before the state began: whether it was used is not known")
        }
        guard !failedChallenges.contains(challenge), try await host.store.get(key) == nil else {
            return .refused(KernelReasons.challengeAlreadyUsed)
        }
        let verdict = try await appraise()
        guard case .verified = verdict else {
            failedChallenges.remember(challenge, of: PeerGroup(call.peer))
            return verdict
        }
        // Of several that came this far with one challenge, the store lets one through.
        return try await host.store.insert(key, value: [], expires: forgetAt)
            ? verdict : .refused(KernelReasons.challengeAlreadyUsed)
    }

    /// Recognises a challenge, by keys that are newer than the snapshot's if need be.
    private func inspect(
        _ challenge: [UInt8], _ provider: ProviderEntry
    ) throws(KeyError) -> ChallengeIssuer.Inspection {
        let inspection = ChallengeIssuer.inspect(
            challenge, for: provider.purpose, keys: snapshot.keys.ring.sealing, now: now)
        guard inspection == .refused(KernelReasons.challengeForged),
            let newer = try live.keys(toKnow: ChallengeIssuer.keyIdentifier(of: challenge), beyond: snapshot.keys)
        else { return inspection }
        return ChallengeIssuer.inspect(challenge, for: provider.purpose, keys: newer.ring.sealing, now: now)
    }

    private func issueToken(
        _ appraisal: Appraisal, _ entry: MethodEntry, _ app: AppEntry, limitedUse: Bool, id: String?
    ) throws -> CallOutcome {
        let token = try snapshot.keys.issuer(at: now).issue(
            app.claims, provider: entry.provider.descriptor.name,
            lifetime: appraisal.tokenLifetime ?? entry.provider.tokenLifetime, limitedUse: limitedUse,
            id: id.map {
                ChosenTokenID($0, by: appraisal.holder ?? "", through: entry.provider.descriptor.name)
            }, now: now, randomness: host.randomness)
        let message: JSON
        switch entry.method.descriptor.kind {
        case .exchange(.enclosed):
            var members = appraisal.reply.map { JSONMember($0.name, $0.value) }
            members.append(JSONMember("appCheckToken", token.message(call.version)))
            if call.version == .v1beta {
                members.append(
                    JSONMember(
                        "attestationToken",
                        ["attestationToken": .string(token.text), "ttl": .string("\(token.lifetime.wholeSeconds)s")]))
            }
            message = .object(members)
        default:
            message = token.message(call.version)
        }
        return .reply(
            message, .issued(tokenID: token.id, limitedUse: limitedUse, expires: token.expires),
            facts: appraisal.facts)
    }

    private func sealer(_ provider: ProviderEntry) -> CallSealer {
        CallSealer(purpose: provider.purpose, keys: snapshot.keys, live: live, now: now, randomness: host.randomness)
    }

    private func context(
        _ app: AppEntry, _ provider: ProviderEntry, _ sealer: CallSealer, challenge: [UInt8]?
    ) -> ProviderContext {
        ProviderContext(
            decision: scope.decision, app: app.identity, challenge: challenge, deadline: now + timeLimit,
            peer: call.peer, caller: caller?.name, now: now, state: StateSpace(provider.space, in: host.store),
            appState: StateSpace(provider.appSpace, in: host.store),
            sealer: Sealer(seal: { try sealer.seal($0) }, open: { sealer.open($0) }),
            logger: host.logger,
            wasVerified: { [verifiedPeers, uptime = host.clock.uptime, name = app.name] peer in
                verifiedPeers.contains(peer, of: name, at: uptime)
            })
    }
}
