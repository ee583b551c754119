internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import Logging
internal import Synchronization

/// An engine for one check, with everything around it under the suite's control.
final class ConformanceHarness: Sendable {
    let clock: ManualClock
    let store: FailingStore
    let upstream: ConformanceUpstream
    let engine: Engine
    let log = SuiteLog()
    private let sink = LatestRecords()
    private let counted = Box()
    private let policies: PolicySet
    private let setup: Setup
    private let keys: KeyStore
    private let secretTexts: [String]
    private let secrets = SecretNotes()
    private let seen: Mutex<(calls: Int, leaks: [String], number: Int)>
    private let firstFault = Mutex<String?>(nil)
    private let left = Mutex<(late: Int, never: Int)>((0, 0))
    private let found = Mutex<(reasons: Set<ExactText>, facts: Set<ExactText>)>(([], []))

    /// How long a call may take, in real time, before the suite gives it up.
    static let patience = Duration.seconds(30)
    /// After which real time the clock is moved for a call that waits, so that limits of time end it.
    ///
    /// Beside other work a call may stand for long because the processors do that work.
    private static var stillness: Duration { ConformanceProcess.isAlone ? .seconds(8) : .seconds(40) }

    convenience init(_ setup: Setup) throws {
        let clock = ManualClock()
        try self.init(setup, FailingStore(AgedStore(clock.hostClock)), clock, .pooled(), number: 0)
    }

    /// Another server of the same service: it has the state, the keys and the time, and nothing that the first one
    /// remembers in its process.
    ///
    /// - Parameter behind: how much its clock is behind; the two continue independently then.
    /// - Parameter state: the state that it has in place of that, such as an empty one.
    func anotherServer(
        behind: Duration = .zero, state: (any StateStore)? = nil
    ) throws -> ConformanceHarness {
        let clock = behind == .zero ? clock : ManualClock(clock.now - behind)
        return try ConformanceHarness(
            setup, state.map { FailingStore($0) } ?? store, clock, keys, number: 1_000_000)
    }

    private init(
        _ setup: Setup, _ store: FailingStore, _ clock: ManualClock, _ keys: KeyStore, number: Int
    ) throws {
        (self.setup, self.store, self.clock, self.keys) = (setup, store, clock, keys)
        seen = Mutex((0, [], number))
        upstream = ConformanceUpstream(setup.upstream, clock: clock.hostClock)
        policies = try PolicySet.load([PolicyFile(name: "conformance.yaml", text: setup.policy)])
        secretTexts = setup.secretTexts
        let (log, sink, secrets) = (log, sink, secrets)
        engine = try Engine(
            registry: Registry(setup.plugins, administration: .api), policies: policies, keys: keys,
            host: PluginHost(
                clock: clock.hostClock, store: store, secrets: secrets.noting(setup.secrets), http: upstream,
                logger: Logger(label: "conformance") { _ in SuiteLog.Handler(log: log) }, meter: counted.meter),
            sink: sink)
    }

    /// What a bench is made of.
    struct Setup: Sendable {
        let plugins: [Plugin]
        let policy: String
        var secrets = SecretSource { _ in nil }
        var secretTexts: [String] = []
        var upstream: (@Sendable (OutboundRequest) async -> OutboundResponse)?
    }

    /// How many calls were made.
    var calls: Int { seen.withLock { $0.calls } }

    /// Texts of secrets or evidence that were found where they must not be.
    var leaks: [String] { seen.withLock { $0.leaks } }

    /// Calls in which the plugin broke its contract: what the first one was, and how many the kernel counts.
    var brokenContracts: [String] {
        (firstFault.withLock { $0 }).map { ["the first fault: \($0)"] + counted.found } ?? counted.found
    }

    /// Calls that ended only because they were abandoned, and those that did not end at all.
    var unanswered: (late: Int, never: Int) { left.withLock { $0 } }

    /// The reasons of refusals so far, and the facts on record.
    var produced: (reasons: Set<ExactText>, facts: Set<ExactText>) { found.withLock { $0 } }

    /// Whether the plugin read a secret.
    var hasSecrets: Bool { !secrets.isEmpty }

    /// Replaces the policies by equal ones.
    func reload() throws {
        try engine.replacePolicies(policies)
    }

    /// Replaces the policies by others.
    func replacePolicies(_ text: String) throws {
        try engine.replacePolicies(.load([PolicyFile(name: "conformance.yaml", text: text)]))
    }

    /// Makes a call; the clock stands still unless `ticking`.
    func call(_ call: Call, ticking: Bool = false) async -> Answer {
        let number = seen.withLock { seen in
            seen.calls += 1
            seen.number += 1
            return seen.number
        }
        var call = call
        // Each from another network, so that what one did is not held against the next.
        call.peer = "2001:db8:\(String(number / 65_536, radix: 16)):\(String(number % 65_536, radix: 16))::1"
        let started = clock.now
        // Before the call begins: it may have ended at any time after that.
        let broken = counted.sum
        let made = call
        let task = Task(executorPreference: CallThreads.shared) { [engine] in await engine.handle(made) }
        let isLate = Flag()
        let ticker = tick(after: ticking ? .zero : Self.stillness, isLate)
        defer { ticker.cancel() }
        // A cancelled caller waits for the answer anyway, as a transport does.
        let reply = await withTaskCancellationHandler {
            await Task { await FirstAnswer.of(task, within: Self.patience) }.value
        } onCancel: {
            task.cancel()
        }
        guard let reply else {
            task.cancel()
            left.withLock { $0.never += 1 }
            return Answer(result: nil, record: nil, took: clock.now - started, brokeContract: false, earlierFault: nil)
        }
        if isLate.isSet, !ticking { left.withLock { $0.late += 1 } }
        let record = sink.take(reply.decision)
        look(made, reply, record)
        var answer = Answer(
            result: reply.result, record: record, took: clock.now - started, brokeContract: counted.sum > broken,
            earlierFault: nil)
        // An instance that kept failing is not called for a while: the cause is what it did before.
        answer.earlierFault = note(answer)
        return answer
    }

    /// Keeps the first fault; returns the one that came before this answer.
    private func note(_ answer: Answer) -> String? {
        firstFault.withLock { first in
            if let first { return answer.brokeContract ? nil : first }
            if answer.brokeContract, answer.isFault, let detail = answer.record?.detail {
                first = String(detail.prefix(300))
            }
            return nil
        }
    }

    /// Moves the clock while a call waits for it.
    private func tick(after wait: Duration, _ began: Flag) -> Task<Void, Never> {
        let (clock, upstream) = (clock, upstream)
        return Task {
            if wait > .zero { guard (try? await Task.sleep(for: wait)) != nil else { return } }
            began.set()
            // A plugin that has its answer gets the time to use it, also on a busy machine.
            while (try? await Task.sleep(for: .milliseconds(upstream.isAwaited ? 4 : 100))) != nil {
                if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(500)) }
            }
        }
    }

    /// Looks for secrets and evidence in what others can read.
    private func look(_ call: Call, _ reply: Reply, _ record: DecisionRecord?) {
        var texts = log.take()
        if let detail = record?.detail { texts.append(detail) }
        if case .failure(let failure) = reply.result { texts += [failure.message, failure.detail ?? ""] }
        found.withLock { found in
            if case .failure(let failure) = reply.result, let reason = failure.reason {
                found.reasons.insert(ExactText(reason.code))
            }
            for fact in record?.facts ?? [] { found.facts.insert(ExactText(fact.name.text)) }
        }
        // What is declared as a fact may be evidence, and never a secret.
        for case .text(let fact) in (record?.facts ?? []).map(\.value) where isSecret(fact) {
            add("a secret in a fact: \(fact.prefix(80))")
        }
        let evidence = FieldChange.texts(of: call.body).map(\.text).filter { $0.utf8.count > 96 }
        for text in texts {
            if isSecret(text) { add("a secret in: \(text.prefix(80))") }
            for piece in evidence where text.contains(piece.prefix(80)) { add("evidence in: \(text.prefix(80))") }
        }
    }

    private func isSecret(_ text: String) -> Bool {
        secrets.areIn(text) || secretTexts.contains { text.contains($0) }
    }

    private func add(_ leak: String) {
        seen.withLock { seen in
            if seen.leaks.count < 8, !seen.leaks.contains(leak) { seen.leaks.append(leak) }
        }
    }

    /// What a call came to.
    struct Answer: Sendable {
        /// Nil when no answer came.
        let result: Result<JSON, CallFailure>?
        let record: DecisionRecord?
        /// By the clock of the suite.
        let took: Duration
        /// Whether the kernel counted the call as a breach of the contract, which the check `contract` reports.
        let brokeContract: Bool
        /// The first breach of the contract before this call; nil for none, and for a call that is one.
        var earlierFault: String?

        var reply: JSON? { if case .success(let reply)? = result { reply } else { nil } }
        var failure: CallFailure? { if case .failure(let failure)? = result { failure } else { nil } }

        /// Whether the answer says that no decision could be made, or none came.
        var isFault: Bool {
            guard let result else { return true }
            guard case .failure(let failure) = result else { return false }
            return failure.status == .unavailable || failure.status == .internalError
        }

        /// The status, the reason and the cause, for findings.
        var words: String {
            guard let result else { return "no answer" }
            guard case .failure(let failure) = result else { return "accepted" }
            let cause = record?.detail ?? failure.detail ?? failure.message
            let before = isFault ? earlierFault.map { "after the fault: \($0)" } : nil
            return [failure.status.rawValue, failure.reason?.code, before, "(\(cause.prefix(120)))"].compactMap(\.self)
                .joined(separator: " ")
        }

        /// What is equal for equal input.
        var verdict: String {
            let facts = (record?.facts ?? []).map { $0.name.text }.sorted().joined(separator: ",")
            return "\(failure?.status.rawValue ?? "accepted") \(failure?.reason?.code ?? "") \(facts)"
        }
    }

    /// Keeps records until their calls are answered.
    private final class LatestRecords: DecisionSink {
        private let kept = Mutex<[DecisionRecord]>([])

        func record(_ record: DecisionRecord) {
            kept.withLock { $0.append(record) }
        }

        func record(_ event: AuditEvent) {}

        /// The record of a decision, which is forgotten then.
        func take(_ decision: DecisionID) -> DecisionRecord? {
            kept.withLock { kept in
                kept.lastIndex { $0.decision == decision }.map { kept.remove(at: $0) }
            }
        }
    }

    /// Counts the faults that the kernel sees.
    private final class Box: Sendable {
        private let sums = Mutex<[String: Int]>([:])

        var meter: Meter {
            Meter { [self] _, metric, change, labels in
                let name = metric.name
                guard case .add(let amount) = change, amount > 0,
                    name.isExactly("plugin_faults_total") || name.isExactly("plugin_limits_exceeded_total")
                else { return }
                sums.withLock { $0[([name] + labels).joined(separator: " "), default: 0] += Int(amount) }
            }
        }

        var sum: Int { sums.withLock { $0.values.reduce(0, +) } }

        var found: [String] { sums.withLock { $0.map { "\($0.key): \($0.value)" }.sorted() } }
    }
}

/// The answer of a task that may never end.
enum FirstAnswer {
    /// The value of a task; nil when it does not come in time.
    static func of<Value: Sendable>(_ task: Task<Value, Never>, within limit: Duration) async -> Value? {
        let (values, end) = AsyncStream.makeStream(of: Value?.self)
        Task { end.yield(await task.value) }
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            end.yield(nil)
        }
        defer { timer.cancel() }
        return await values.first { _ in true } ?? nil
    }
}
