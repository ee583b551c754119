internal import AssayCore
internal import AssayKit

/// The context of one request: one reading of the policies, the keys and the clock, and its sender.
///
/// Every part of the engine that judges evidence or tokens needs one, and only ``DecisionGate`` makes them, so that
/// every decision has passed the gate. It is a class because it is large and is passed on often.
final class RequestScope: Sendable {
    let decision: DecisionID
    let now: Instant
    /// When the request began.
    private let start: Duration
    let snapshot: Snapshot
    /// Since when the state is complete: a challenge or token that was made earlier counts as used.
    let stateBeginning: Instant
    /// The deny lists in force.
    let denials: Denials
    let call: Call
    /// The caller whose permission was checked; nil when the method requires none.
    let caller: Caller?
    private let gate: DecisionGate

    init(_ passage: DecisionGate.Passage, call: Call, caller: Caller?, gate: DecisionGate) {
        decision = passage.decision
        now = passage.now
        start = passage.start
        snapshot = passage.snapshot
        stateBeginning = passage.stateBeginning
        denials = passage.denials
        self.call = call
        self.caller = caller
        self.gate = gate
    }

    var host: PluginHost { gate.host }
    /// What remembers the things of a kind that were used, in a namespace of the kernel.
    func uses(of kind: OneTimeKind, in space: String) -> OneTimeUse {
        OneTimeUse(of: kind, in: StateSpace(space, in: host.store, since: stateBeginning))
    }
    /// The name of the state for tokens.
    var stateMark: StateMark { StateMark(beginning: stateBeginning) }
    /// The records that callers may look up; nil when there are none.
    var archive: (any DecisionArchive)? { gate.archive }
    /// The names in records that the program knows.
    var recordNames: RecordNames { gate.recordNames }
    /// How long the decision may take.
    var timeLimit: Duration { gate.timeLimit }
    /// When the decision must have been made.
    var deadline: Instant { now + gate.timeLimit }
    /// What signs tokens now.
    ///
    /// Fails as unavailable while the keys have not been known to be the present ones for too long.
    var issuer: TokenIssuer {
        get throws(CallFailure) {
            let freshness = live.freshness
            guard freshness.stage != .silent else {
                throw CallFailure(
                    .unavailable, CallOutcome.unavailableMessage, detail: freshness.caution, retryAfter: .seconds(5))
            }
            return snapshot.keys.issuer(at: freshness.signingTime(now))
        }
    }
    /// The source of newer keys than the snapshot's.
    var live: LiveSnapshot { gate.live }
    var failedChallenges: ChallengeMemory { gate.failedChallenges }
    var spentChallenges: ChallengeMemory { gate.spentChallenges }
    var verifiedPeers: VerifiedPeers { gate.verifiedPeers }
    var evidenceSink: (any EvidenceSink)? { gate.evidenceSink }

    /// Puts a change of the service itself on record.
    func record(_ event: AuditEvent) { gate.record(event) }

    /// Reads the deny list of the state store again, because it was changed.
    func refreshDenials() async { await gate.liveState.refreshDenials() }

    /// Reads the levels of a project's services again, because they were changed.
    func refreshProtection(of project: ProjectIdentity) async {
        await gate.liveState.refreshProtection(of: project)
    }

    /// What administrators have set for the services of a project.
    ///
    /// - Throws: the store's error, if it has never been read.
    nonisolated(nonsending) func protection(of project: ProjectIdentity) async throws -> ProtectionState {
        try await gate.liveState.protection(of: project, uptime: start)
    }
}

extension RequestScope {
    /// How long the decision may still take.
    var timeLeft: Duration { max(.zero, gate.timeLimit - (gate.host.clock.uptime - start)) }

    /// Runs a call of a plugin within its limits, and answers in time whatever the plugin does.
    ///
    /// - Parameter isFault: whether a result breaks the contract.
    /// - Throws: as ``PluginGuard/run(_:isFault:_:)``.
    func calling<Value: Sendable>(
        _ plugin: PluginGuard, _ breaker: CircuitBreaker?, isFault: (Value) -> Bool = { _ in false },
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await plugin.run(
            PluginGuard.Entry(host: gate.host, deadlines: gate.deadlines, breaker: breaker, timeLeft: timeLeft),
            isFault: isFault, operation)
    }

    /// Lets a plugin read a request, without waiting: on its own threads if it is isolated.
    ///
    /// - Throws: what the plugin throws; as ``PluginGuard/run(_:isFault:_:)``.
    nonisolated(nonsending) func reading<Value: Sendable>(
        _ plugin: PluginGuard, _ read: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard plugin.isIsolated else { return try read() }
        return try await calling(plugin, nil) { try read() }
    }

    /// Runs work that may wait for the store, a plugin or another server, and cancels it when the decision takes too
    /// long.
    ///
    /// - Throws: the operation's error; ``DeadlineExceeded``.
    func withinDeadline<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Deadline.run(gate.timeLimit, clock: gate.host.clock, operation)
    }

    /// Runs work that never waits.
    ///
    /// A result that comes too late is not used.
    ///
    /// - Throws: the operation's error; ``DeadlineExceeded``.
    func withoutWaiting<Value>(_ operation: () throws -> Value) throws -> Value {
        try Deadline.runAtOnce(gate.timeLimit, clock: gate.host.clock, operation)
    }

    /// Counts the call towards the rate limit of an app.
    ///
    /// - Parameter isVerified: whether the peer is known to have a genuine app; nil to look it up.
    /// - Returns: the outcome of the call when the rate limit of the app's policy is exceeded; nil otherwise.
    func exceededRateLimit(of app: AppBinding, isVerified: Bool? = nil) -> CallOutcome? {
        guard let bucket = app.bucket else { return nil }
        let (peer, uptime) = (PeerGroup(call.peer), gate.host.clock.uptime)
        let isVerified = isVerified ?? verifiedPeers.contains(peer, of: app.name, at: uptime)
        return bucket.take(at: uptime, for: peer, isVerified: isVerified).map { .limited(wait: $0) }
    }
}
