internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayKit
internal import Synchronization

/// The world as a provider saw it when evidence was judged: one piece of evidence after the other.
final class ReplayEnvironment: Sendable {
    private struct State {
        var evidence: CapturedEvidence?
        /// The answers of the state.
        var answers: RecordedAnswers?
        /// What the provider needed and the record does not have.
        var gap: String?
        var assumptions: [String] = []
        /// The time of the evidence; that of this machine before the first one.
        var now = HostClock.system.now
        /// How far the uptime is ahead of this machine's.
        var lead = Duration.zero
    }

    private let state = Mutex(State())

    /// The time of the evidence.
    ///
    /// Between two pieces of evidence the uptime makes a step of a day, so that no limit and no memory of a plugin has an
    /// effect on the next one.
    var clock: HostClock {
        HostClock(
            now: { self.state.withLock { $0.now } },
            uptime: { self.state.withLock { HostClock.system.uptime + $0.lead } },
            sleep: { try await HostClock.system.sleep(for: $0) })
    }

    /// Why the evidence cannot be judged; nil when it can.
    var gap: String? { state.withLock { $0.gap } }

    var assumptions: [String] { state.withLock { $0.assumptions } }

    func begin(_ evidence: CapturedEvidence, _ provider: ProviderBinding) {
        state.withLock { state in
            let lead = state.lead + .seconds(86_400)
            state = State(
                evidence: evidence, answers: RecordedAnswers(evidence.state, provider.spaces),
                now: evidence.time, lead: lead)
        }
    }

    func end() {
        state.withLock { state in
            (state.evidence, state.answers) = (nil, nil)
        }
    }

    /// Takes down what is missing; the first counts.
    func miss(_ what: String) {
        state.withLock { if $0.gap.isNil { $0.gap = what } }
    }

    /// The content of sealed data that was opened then.
    func open(_ sealed: [UInt8]) -> [UInt8]? {
        let digest = SHA256.hash(sealed)
        let found = state.withLock { $0.evidence?.opened.first { $0.digest == digest } }
        guard let found else {
            miss("it opens sealed data that it did not open then, and only the service has the key")
            return nil
        }
        return found.content
    }

    /// What was answered then.
    func answer<Value: Sendable>(_ ask: (inout RecordedAnswers) -> Value?) -> Value? {
        state.withLock { state in
            guard var answers = state.answers else { return nil }
            defer { state.answers = answers }
            return ask(&answers)
        }
    }

    /// Takes down what is taken to be so.
    func assume(_ what: String) {
        state.withLock { state in
            let text = SafeText.of(what)
            guard state.assumptions.count < 8, !state.assumptions.contains(exactly: text) else { return }
            state.assumptions.append(text)
        }
    }
}

/// The state as it was: it answers what it answered then.
struct ReplayStore: StateStore {
    let stage: ReplayEnvironment

    func commit(_ changes: [StateChange]) async throws -> Int? {
        changes.firstIndex { !isMade($0) }
    }

    private func isMade(_ change: StateChange) -> Bool {
        if let known = stage.answer({ $0.isMade(change) }) { return known }
        switch change {
        case .insert(let key, _, _, _): stage.assume("the state had no entry \(key.name)")
        case .advance(let key, let value): stage.assume("the counter \(key.name) was below \(value)")
        }
        return true
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        let known = stage.answer { $0.get(key) }
        if let known { return known }
        throw missing("it reads an entry of the state that it did not read then")
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {}

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        throw missing("it lists entries of the state, which records do not have")
    }

    private func missing(_ what: String) -> EvidenceError {
        stage.miss(what)
        return EvidenceError(what)
    }
}

/// No network: a provider that asks another server cannot be judged offline.
final class ReplayHTTP: OutboundHTTP {
    private let stage: ReplayEnvironment

    init(stage: ReplayEnvironment) {
        self.stage = stage
    }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        stage.miss("it asks another server: \(SafeText.of(request.url.host))")
        throw OutboundFailure(.noClient, "captured evidence is judged offline")
    }
}
