internal import AssayKit

/// What one decision is made by: one reading of the policies, the keys and the clock.
///
/// Only ``DecisionGate`` makes one. Whatever judges evidence or tokens demands one, so that nothing decides that has not
/// passed the gate. It is a class because it is passed on often and is large.
final class DecisionScope: Sendable {
    let decision: DecisionID
    let now: Instant
    let snapshot: Snapshot
    /// Since when the state remembers what was used: whatever was issued before, and is good once, counts as used.
    let stateBeginning: Instant
    let host: PluginHost
    /// How long the decision may take.
    let timeLimit: Duration

    fileprivate init(
        decision: DecisionID, now: Instant, snapshot: Snapshot, stateBeginning: Instant, host: PluginHost,
        timeLimit: Duration
    ) {
        self.decision = decision
        self.now = now
        self.snapshot = snapshot
        self.stateBeginning = stateBeginning
        self.host = host
        self.timeLimit = timeLimit
    }
}

/// Who and what a decision is about, as far as it is known.
struct DecisionSubject {
    /// What a request calls its method and its resource; nothing of either is verified.
    let method: String
    let requested: String
    let peer: String?
    /// The provider that the method is one of.
    let provider: String?
    var caller: Caller?
    /// The canonical name of the resource, once it is known.
    var resource: String?
    /// The app or OAuth client that the resource is.
    var app: String?
    /// What is put on record of the caller and the consumer.
    var facts: [Fact] = []

    init(method: String, requested: String, peer: String?, provider: String? = nil) {
        self.method = method
        self.requested = requested
        self.peer = peer
        self.provider = provider
    }
}

/// The one way to a decision: begins it, asks what keeps the engine from deciding, has it made, and puts it on record.
struct DecisionGate: Sendable {
    private let sink: any DecisionSink
    /// What the program that embeds the engine says of its own: that records cannot be written, for instance.
    private let reasonOfProgram: (@Sendable () -> String?)?
    private let host: PluginHost
    private let timeLimit: Duration
    private let history: StateHistory
    private let clockWatch: ClockWatch

    init(sink: any DecisionSink, options: Engine.Options, host: PluginHost) {
        self.sink = sink
        reasonOfProgram = options.blockingReason
        timeLimit = options.timeLimit
        self.host = host
        history = StateHistory(host, timeLimit: options.timeLimit)
        clockWatch = ClockWatch(host)
    }

    /// What keeps the engine from deciding, in words for an operator; nil when nothing is known to.
    var blockingReason: String? { reasonOfProgram?() ?? host.store.blockingReason }

    /// That, or why the keys of a snapshot cannot be used with the state.
    func blockingReason(_ snapshot: Snapshot) async -> String? {
        switch await admission(snapshot, now: host.clock.now) {
        case .open: nil
        case .blocked(let reason): reason
        }
    }

    private enum Admission {
        /// - Parameter beginning: since when the state is complete.
        case open(beginning: Instant)
        case blocked(String)
    }

    /// Whether anything may be decided by a snapshot now: nothing while anything that is taken for granted is not known to
    /// be there.
    private func admission(_ snapshot: Snapshot, now: Instant) async -> Admission {
        if let blockingReason { return .blocked(blockingReason) }
        do {
            return .open(beginning: try await history.confirm(snapshot.keys, now: now))
        } catch {
            return .blocked("\(error)")
        }
    }

    /// Makes one decision. Where something keeps the engine from deciding, every request is unavailable, and nothing of it is
    /// looked at.
    ///
    /// - Parameter make: decides, and says in its ending whether there is anything to put on record.
    func decide(
        by snapshot: Snapshot, _ subject: DecisionSubject,
        _ make: (DecisionScope, inout DecisionSubject) async -> CallOutcome
    ) async -> (decision: DecisionID, ending: CallOutcome) {
        let now = host.clock.now
        let start = host.clock.uptime
        clockWatch.observe(now, uptime: start)
        let decision = DecisionID(now: now, randomness: host.randomness)
        var subject = subject
        let ending: CallOutcome
        switch await admission(snapshot, now: now) {
        case .blocked(let reason):
            ending = .unavailable(reason)
        case .open(let beginning):
            let scope = DecisionScope(
                decision: decision, now: now, snapshot: snapshot, stateBeginning: beginning, host: host,
                timeLimit: timeLimit)
            ending = await make(scope, &subject)
        }
        guard ending.isOnRecord else { return (decision, ending) }
        let isAnswered = ending.isAnswered
        sink.record(
            DecisionRecord(
                decision: decision, time: now, duration: host.clock.uptime - start,
                method: SafeText.of(subject.method), resource: subject.resource ?? SafeText.of(subject.requested),
                provider: ending.provider ?? subject.provider, outcome: ending.outcome,
                detail: ending.safeDetail(isAnswered: isAnswered),
                facts: subject.facts + ending.facts, peer: subject.peer.map { SafeText.of($0) },
                caller: subject.caller?.name, tokenUse: ending.tokenUse?.use(isAnswered: isAnswered),
                unenforced: ending.waived?.reason, app: subject.app ?? ending.app ?? ending.tokenUse?.app,
                basis: ending.basis(
                    isCallerKnown: subject.caller != nil, isResourceKnown: !subject.resource.isNil)))
        return (decision, ending)
    }
}
