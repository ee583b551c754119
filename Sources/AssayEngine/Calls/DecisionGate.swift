internal import AssayCore
internal import AssayKit
internal import AssayVerifier

/// The single way to a decision, for calls of every method and for ``Engine/protect(_:)``.
///
/// First it checks what blocks decisions, and whether the caller has the permission that the method requires. Then it
/// has the request answered, and puts the decision on record.
final class DecisionGate: Sendable {
    let host: PluginHost
    /// How long one decision may take.
    let timeLimit: Duration
    let live: LiveSnapshot
    let failedChallenges = ChallengeMemory()
    let spentChallenges = ChallengeMemory()
    let verifiedPeers = VerifiedPeers()
    /// What administrators have changed in the state.
    let liveState: LiveState
    /// The limits of the plugins' calls that run.
    let deadlines: DeadlineQueue
    /// Where captured evidence is kept; nil for nowhere.
    let evidenceSink: (any EvidenceSink)?
    /// The records that callers may look up.
    let archive: (any DecisionArchive)?
    /// The names in records that the program knows.
    let recordNames: RecordNames
    private let sink: any DecisionSink
    /// The blocking reason of the program that embeds the engine, for example that records cannot be written.
    private let reasonOfProgram: (@Sendable () -> String?)?
    private let history: StateHistory
    let clockWatch: ClockWatch
    let identifiers: DecisionIDs

    /// - Parameters:
    ///   - facts: the facts of each provider of the program.
    ///   - names: the names in records that the program knows.
    init(
        sink: any DecisionSink, options: EngineOptions, live: LiveSnapshot, host: PluginHost,
        facts: [ExactText: [FactName]], names: RecordNames
    ) {
        self.sink = sink
        reasonOfProgram = options.blockingReason
        timeLimit = options.timeLimit
        evidenceSink = options.evidence
        archive = options.archive
        recordNames = names
        self.live = live
        self.host = host
        deadlines = DeadlineQueue(host.clock)
        liveState = LiveState(host, facts: facts) { [live] in live.note($0) }
        history = StateHistory(host, timeLimit: options.timeLimit)
        clockWatch = (host.store as? WatchedStore)?.watch ?? ClockWatch(host)
        identifiers = DecisionIDs(host.randomness)
    }

    /// Proof that a request passed the gate, with what it is judged by.
    ///
    /// Only the gate makes one.
    struct Passage {
        let decision: DecisionID
        let now: Instant
        /// The uptime when the request began.
        let start: Duration
        let snapshot: Snapshot
        let stateBeginning: Instant
        let denials: Denials

        fileprivate init(
            decision: DecisionID, now: Instant, start: Duration, snapshot: Snapshot, stateBeginning: Instant,
            denials: Denials
        ) {
            self.decision = decision
            self.now = now
            self.start = start
            self.snapshot = snapshot
            self.stateBeginning = stateBeginning
            self.denials = denials
        }
    }

    /// Makes one decision.
    ///
    /// While decisions are blocked, every request is unavailable, and the request is not read.
    ///
    /// - Parameters:
    ///   - permission: the permission that the caller needs; nil when none is required.
    ///   - provider: the provider that the method belongs to, for the record.
    ///   - answer: decides, and says in its outcome whether anything is recorded.
    nonisolated(nonsending) func decide(
        _ call: Call, requiring permission: Permission? = nil, provider: String? = nil,
        _ answer: nonisolated(nonsending) (RequestScope) async -> CallOutcome
    ) async -> (decision: DecisionID, outcome: CallOutcome) {
        let snapshot = live.snapshot
        let now = host.clock.now
        let start = host.clock.uptime
        clockWatch.observe(now, uptime: start)
        let decision = identifiers.next(now: now)
        var found: Callers.Found?
        var outcome: CallOutcome
        switch await admission(snapshot, now: now, uptime: start) {
        case .blocked(let reason):
            outcome = .unavailable(reason)
        case .open(let beginning, let denials):
            var denial: CallOutcome?
            // This comes first, because the response to a caller without the permission must not reveal what exists.
            if let permission { (found, denial) = await check(call, has: permission, snapshot, now: now) }
            if let denial {
                outcome = denial
            } else {
                let passage = Passage(
                    decision: decision, now: now, start: start, snapshot: snapshot, stateBeginning: beginning,
                    denials: denials)
                outcome = await answer(RequestScope(passage, call: call, caller: found?.caller, gate: self))
            }
        }
        if outcome.reason == KernelReasons.tokenKeyUnknown, let undecided = live.undecided {
            let resource = outcome.resource
            outcome = .ended(by: undecided)
            outcome.resource = resource
        }
        if outcome.isOnRecord {
            sink.record(
                record(
                    outcome, decision, call, found, provider: provider, time: now, start: start,
                    revision: snapshot.policies.revision))
        }
        return (decision, outcome)
    }

    /// Finds the caller by its credentials, and checks its permission.
    ///
    /// - Returns: the caller if it is known, and the outcome of the call if it is denied.
    private nonisolated(nonsending) func check(
        _ call: Call, has permission: Permission, _ snapshot: Snapshot, now: Instant
    ) async -> (Callers.Found?, denial: CallOutcome?) {
        guard let credentials = call.credentials else {
            return (nil, .unauthenticated("the request has no bearer token"))
        }
        let found: Callers.Found
        do {
            switch try await snapshot.policies.callers.find(credentials, now: now) {
            case .found(let caller): found = caller
            case .unknown(let detail): return (nil, .unauthenticated(detail))
            }
        } catch {
            return (nil, .unavailable(error.message))
        }
        guard var denial = found.caller.refusal(needing: permission) else { return (found, nil) }
        // Only the record reveals what exists.
        denial.resource = snapshot.policies.find(call.resource)?.name
        return (found, denial)
    }

    /// Puts a change of the service itself on record.
    func record(_ event: AuditEvent) {
        sink.record(event)
    }

    private func record(
        _ outcome: CallOutcome, _ decision: DecisionID, _ call: Call, _ found: Callers.Found?, provider: String?,
        time: Instant, start: Duration, revision: PolicyRevision
    ) -> DecisionRecord {
        let isAnswered = outcome.isAnswered
        var facts = outcome.facts
        if let token = found?.token { facts.insert(Fact(.callerToken, .text(token.string)), at: 0) }
        if let subject = found?.subject { facts.insert(Fact(.callerSubject, .text(SafeText.of(subject))), at: 0) }
        var record = DecisionRecord(
            decision: decision, time: time, duration: host.clock.uptime - start, method: SafeText.of(call.method),
            resource: outcome.resource ?? SafeText.of(call.resource), provider: outcome.provider ?? provider,
            outcome: outcome.outcome, detail: outcome.safeDetail(isAnswered: isAnswered), facts: facts,
            peer: call.peer.map { SafeText.of($0) }, caller: found?.caller.name,
            tokenUse: outcome.tokenUse?.use(isAnswered: isAnswered), unenforced: outcome.waived?.reason,
            rules: outcome.rules, app: outcome.app ?? outcome.tokenUse?.app,
            basis: outcome.basis(isCallerKnown: found != nil, isResourceKnown: !outcome.resource.isNil),
            revision: revision, route: call.route)
        record.denial = outcome.denial
        return record
    }
}

// MARK: - What blocks decisions

extension DecisionGate {
    /// Why the engine must not decide, in words for an operator; nil when it may.
    var blockingReason: String? {
        reasonOfProgram?() ?? host.store.blockingReason
    }

    /// The same, or why the keys of the present snapshot cannot be used with the state.
    var blockingReasonOfKeys: String? {
        get async {
            switch await admission(live.snapshot, now: host.clock.now, uptime: host.clock.uptime) {
            case .open: nil
            case .blocked(let reason): reason
            }
        }
    }

    /// What operators should know of a state that begins with this process; nil for one that was there.
    var newState: String? { history.note }

    private enum Admission {
        /// - Parameters:
        ///   - beginning: since when the state is complete.
        ///   - _: the deny lists in force.
        case open(beginning: Instant, Denials)
        case blocked(String)
    }

    /// Whether a snapshot may decide now: not before its keys and the state are known to be intact.
    private nonisolated(nonsending) func admission(_ snapshot: Snapshot, now: Instant, uptime: Duration) async
        -> Admission
    {
        if let blockingReason { return .blocked(blockingReason) }
        do {
            // One in the future was set while a clock was ahead.
            let known = snapshot.beginning.flatMap { $0 > now + StateHistory.tolerance ? nil : $0 }
            if let known, liveState.isPresent(snapshot.storedDenials, uptime: uptime) {
                return .open(beginning: known, snapshot.denials)
            }
            let beginning: Instant
            if let known {
                beginning = known
            } else {
                beginning = try await history.confirm(snapshot.keys, now: now)
                live.note(snapshot.keys, since: beginning)
            }
            let stored = try await liveState.denials(uptime: uptime)
            return .open(beginning: beginning, Denials(policies: snapshot.policies.denials, server: stored))
        } catch {
            return .blocked("\(error)")
        }
    }
}
