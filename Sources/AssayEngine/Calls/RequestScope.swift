internal import AssayCore
internal import AssayHosting
internal import AssayKit

/// What one request is judged by: one reading of the policies, the keys and the clock, and who sent it.
///
/// Every part of the engine that judges evidence or tokens needs one, and ``DecisionGate`` alone makes them, so that nothing
/// is decided that has not passed the gate. It is a class because it is passed on often and is large.
final class RequestScope: Sendable {
    let decision: DecisionID
    let now: Instant
    let snapshot: Snapshot
    /// Since when the state is complete: a single-use value that was issued earlier counts as used.
    let stateBeginning: Instant
    let call: Call
    /// Whose permission was checked; nil where the method requires none.
    let caller: Caller?
    private let gate: DecisionGate

    init(_ passage: DecisionGate.Passage, call: Call, caller: Caller?, gate: DecisionGate) {
        decision = passage.decision
        now = passage.now
        snapshot = passage.snapshot
        stateBeginning = passage.stateBeginning
        self.call = call
        self.caller = caller
        self.gate = gate
    }

    var host: PluginHost { gate.host }
    /// How long the decision may take.
    var timeLimit: Duration { gate.timeLimit }
    /// When the decision must have been made.
    var deadline: Instant { now + gate.timeLimit }
    /// Where newer keys are found than those of the snapshot.
    var live: LiveSnapshot { gate.live }
    var failedChallenges: FailedChallenges { gate.failedChallenges }
    var verifiedPeers: VerifiedPeers { gate.verifiedPeers }
}

extension RequestScope {
    /// Runs what may wait for the store, a plugin or another server, and cancels it when the decision takes too long.
    ///
    /// - Throws: what the operation throws; ``DeadlineExceeded``.
    func withinDeadline<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Deadline.run(gate.timeLimit, clock: gate.host.clock, operation)
    }

    /// Runs what never waits.
    ///
    /// A result that comes too late is not used.
    ///
    /// - Throws: what the operation throws; ``DeadlineExceeded``.
    func withoutWaiting<Value>(_ operation: () throws -> Value) throws -> Value {
        try Deadline.runAtOnce(gate.timeLimit, clock: gate.host.clock, operation)
    }

    /// Counts the call for an app.
    ///
    /// - Parameter isVerified: whether the peer is known to have a genuine app; nil to ask what is remembered of it.
    /// - Returns: how the call ends when the rate limit of the app's policy is exceeded; nil otherwise.
    func exceededRateLimit(of app: AppBinding, isVerified: Bool? = nil) -> CallOutcome? {
        guard let bucket = app.bucket else { return nil }
        let (peer, uptime) = (PeerGroup(call.peer), gate.host.clock.uptime)
        let isVerified = isVerified ?? verifiedPeers.contains(peer, of: app.name, at: uptime)
        return bucket.take(at: uptime, for: peer, isVerified: isVerified).map { .limited(wait: $0) }
    }
}
