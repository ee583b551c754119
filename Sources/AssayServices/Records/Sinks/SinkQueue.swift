internal import AssayCore
public import AssayEngine
public import AssayKit
internal import Logging
internal import Synchronization

/// Passes decisions on to a sink that an operator chose, without delaying any decision.
///
/// Records wait in a bounded queue, from which one task passes on batches, in order. A batch that fails is tried again
/// after a growing pause, up to 15 seconds, or up to a minute if the sink asks for it. When the queue is full, further records are lost; the loss is counted, logged
/// and shown in ``readiness``. The operator chooses whether decisions continue meanwhile: see ``blockingReason``.
///
/// Waiting records are only in memory. ``close()`` passes them on; a killed process loses them.
public final class SinkQueue: DecisionSink {
    /// The bounds of a queue.
    public struct Options: Sendable {
        /// How many records may wait.
        public var queueLimit: Int
        /// How long the sink may take for a batch; the task of its call is cancelled then.
        public var timeLimit: Duration
        /// How long ``close()`` waits for the records that still wait.
        public var closingLimit: Duration

        /// By default, 16,384 records may wait, a batch may take 30 seconds, and the end 15 seconds.
        public init(
            queueLimit: Int = 16_384, timeLimit: Duration = .seconds(30), closingLimit: Duration = .seconds(15)
        ) {
            self.queueLimit = max(1, queueLimit)
            self.timeLimit = timeLimit
            self.closingLimit = closingLimit
        }
    }

    private typealias Call = Task<Result<Void, DecisionSinkError>, Never>

    private struct State {
        /// The entries that came since the worker last looked.
        var incoming: [DecisionEntry.Content] = []
        /// The batch that the sink has not written yet.
        var taken: [DecisionEntry.Content] = []
        /// The present call of the sink, and when it began.
        var call: (task: Call, began: Duration)?
        /// Why the last call failed; nil when it succeeded.
        var failure: String?
        /// How many records were lost since the last log line about it, and when that was.
        var lost = 0
        var warned: Duration?
        var isClosed = false

        var count: Int { incoming.count + taken.count }
    }

    /// What the sink is called in metrics and log lines.
    public let name: String
    private let sink: any DecisionSinkPlugin
    private let host: StorageHost
    private let options: Options
    private let work: BackgroundWork
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// A sink that works again is noticed soon.
    private static let backoff = Backoff(first: .seconds(1), limit: .seconds(15))
    /// The longest pause that a sink may ask for.
    private static let longestPause = Duration.seconds(60)
    private static let warningInterval = Duration.seconds(10)

    /// Makes the queue of an open sink.
    ///
    /// - `name`: what the sink is called in metrics and log lines: a few words at most.
    public init(_ name: String, for sink: any DecisionSinkPlugin, host: StorageHost, options: Options = Options()) {
        self.name = name
        self.sink = sink
        self.host = host
        self.options = options
        work = BackgroundWork(
            "the sink \(name)", clock: host.clock, randomness: host.randomness, logger: host.logger
        ) { try await sink.run() }
        // One wake is enough: the worker takes all that waits.
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        for metric in [SinkMetrics.written, SinkMetrics.lost, SinkMetrics.failed] {
            host.meter.add(0, to: metric, name)
        }
        host.meter.set(0, of: SinkMetrics.waiting, name)
    }

    /// Puts a decision in the queue.
    public func record(_ record: DecisionRecord) {
        add(.decision(record))
    }

    /// Puts the sum of many decisions in the queue.
    public func record(_ summary: DecisionSummary) {
        add(.summary(summary))
    }

    /// Puts a change of the service itself in the queue.
    public func record(_ event: AuditEvent) {
        add(.event(event))
    }

    private func add(_ content: DecisionEntry.Content) {
        let (isLost, wakes) = state.withLock { state in
            guard !state.isClosed, state.count < options.queueLimit else {
                state.lost += 1
                return (true, false)
            }
            state.incoming.append(content)
            host.meter.set(Double(state.count), of: SinkMetrics.waiting, name)
            return (false, state.incoming.count == 1)
        }
        if isLost { host.meter.add(to: SinkMetrics.lost, name) }
        if wakes { wake.yield() }
    }

    /// Passes records on until the task is cancelled, and does the sink's own work meanwhile.
    ///
    /// Call ``close()`` after it.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.work.run() }
            group.addTask { await self.passOn() }
        }
    }

    /// Whether records can be written.
    public var readiness: Readiness {
        Readiness.combined([blockingReason.map { .degraded($0) } ?? .ready, work.readiness])
    }

    /// Why records cannot be written, in words; nil when they can.
    public var blockingReason: String? {
        let now = host.clock.uptime
        return state.withLock { state in
            if let failure = state.failure { return "the sink \(name) does not take records: \(failure)" }
            if let call = state.call, now - call.began > options.timeLimit {
                return "the sink \(name) does not answer"
            }
            return state.count < options.queueLimit ? nil : "too many records wait for the sink \(name)"
        }
    }

    /// Passes on all waiting records, once, and closes the sink.
    ///
    /// Records that cannot be written within the limit are lost then. Call it after the last decision, and after
    /// ``run()`` has ended.
    public func close() async {
        _ = await waiting(atMost: options.closingLimit, clock: host.clock) { [self] in
            if let call = state.withLock({ $0.call }) { finish(await call.task.value) }
            while let batch = next() {
                guard !Task.isCancelled, case .success = await call(batch).value else { break }
                finish(.success(()))
            }
        }
        let (waiting, lost) = state.withLock { state in
            defer { (state.incoming, state.taken, state.lost, state.isClosed) = ([], [], 0, true) }
            return (state.count, state.lost)
        }
        host.meter.add(Double(waiting), to: SinkMetrics.lost, name)
        host.meter.set(0, of: SinkMetrics.waiting, name)
        if waiting + lost > 0 {
            host.logger.error(
                "records for a sink are lost", metadata: ["sink": "\(name)", "count": "\(waiting + lost)"])
        }
        _ = await AssayCore.waiting(atMost: options.closingLimit, clock: host.clock) { [sink] in await sink.close() }
    }

    // MARK: - The worker

    private func passOn() async {
        var failures = 0
        var wakes = wakes.makeAsyncIterator()
        while !Task.isCancelled {
            guard let batch = next() else {
                guard await wakes.next() != nil else { return }
                continue
            }
            // A call is never abandoned for a second one: a sink that hangs delays only itself.
            guard let outcome = await outcome(of: call(batch)) else { return }
            let error = finish(outcome)
            guard let error, !error.isFinal else {
                failures = 0
                continue
            }
            failures += 1
            let pause = max(
                Self.backoff.delay(after: failures, randomness: host.randomness),
                min(error.retryAfter ?? .zero, Self.longestPause))
            guard (try? await host.clock.sleep(for: pause)) != nil else { return }
        }
    }

    /// The batch that the sink is to write next: the one that failed, or the oldest entries.
    private func next() -> [DecisionEntry.Content]? {
        state.withLock { state in
            if state.taken.isEmpty {
                state.taken = Array(state.incoming.prefix(DecisionEntry.batchLimit))
                state.incoming.removeFirst(state.taken.count)
            }
            return state.taken.isEmpty ? nil : state.taken
        }
    }

    /// Begins a call of the sink, whose task is cancelled when its time is over.
    private func call(_ batch: [DecisionEntry.Content]) -> Call {
        let (sink, clock, limit) = (sink, host.clock, options.timeLimit)
        let task = Call {
            let entries = batch.map { DecisionEntry($0, line: $0.line) }
            do throws(DecisionSinkError) {
                try await sink.record(entries)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        state.withLock { $0.call = (task, clock.uptime) }
        Task {
            let timer = Task {
                guard (try? await clock.sleep(for: limit)) != nil else { return }
                task.cancel()
            }
            _ = await task.value
            timer.cancel()
        }
        return task
    }

    /// The outcome of a call; nil when the worker is cancelled first.
    private func outcome(of call: Call) async -> Result<Void, DecisionSinkError>? {
        let (outcomes, end) = AsyncStream.makeStream(of: Result<Void, DecisionSinkError>.self)
        Task { end.yield(await call.value) }
        return await outcomes.first { _ in true }
    }

    /// Takes note of the outcome of the present call; returns its error.
    @discardableResult
    private func finish(_ outcome: Result<Void, DecisionSinkError>) -> DecisionSinkError? {
        let now = host.clock.uptime
        let error: DecisionSinkError? = if case .failure(let error) = outcome { error } else { nil }
        let text = error.map { SafeText.of($0.message) }
        let isOver = error?.isFinal ?? true
        let (before, written, refused, lost) = state.withLock { state in
            let before = state.failure
            state.call = nil
            state.failure = isOver ? nil : text
            let done = isOver ? state.taken.count : 0
            if isOver { state.taken = [] }
            let refused = error == nil ? 0 : done
            state.lost += refused
            var lost = 0
            if state.lost > 0, state.warned.map({ now - $0 >= Self.warningInterval }) ?? true {
                swap(&lost, &state.lost)
                state.warned = now
            }
            host.meter.set(Double(state.count), of: SinkMetrics.waiting, name)
            return (before, done - refused, refused, lost)
        }
        host.meter.add(Double(written), to: SinkMetrics.written, name)
        host.meter.add(Double(refused), to: SinkMetrics.lost, name)
        if let text {
            host.meter.add(to: SinkMetrics.failed, name)
            if before.isNil || isOver {
                host.logger.error(
                    isOver ? "a sink refuses records" : "a sink does not take records, which wait",
                    metadata: ["sink": "\(name)", "error": "\(SafeText.field(text))"])
            }
        } else if !before.isNil {
            host.logger.notice("a sink takes records again", metadata: ["sink": "\(name)"])
        }
        if lost > 0 {
            host.logger.error("records for a sink are lost", metadata: ["sink": "\(name)", "count": "\(lost)"])
        }
        return error
    }
}

extension DecisionEntry.Content {
    /// The line of the audit file, without its end.
    var line: [UInt8] {
        switch self {
        case .decision(let record): AuditLine.encode(record).dropLast()
        case .summary(let summary): AuditLine.encode(summary).dropLast()
        case .event(let event): AuditLine.encode(event).dropLast()
        }
    }
}

/// The metrics of the sinks that an operator chose.
enum SinkMetrics {
    private static let sink = Metric.Label.open("sink", atMost: 16)

    static let written = Metric.counter(
        "sink_records_written_total", "Records of decisions that a sink has written.", labels: [sink])
    static let lost = Metric.counter(
        "sink_records_lost_total", "Records of decisions that a sink did not take and that are lost.", labels: [sink])
    static let failed = Metric.counter(
        "sink_failures_total", "Batches of records that a sink could not write.", labels: [sink])
    static let waiting = Metric.gauge("sink_records_waiting", "Records that wait for a sink.", labels: [sink])
}

extension Registry {
    /// Opens the sink with a name, `SCHEME:LOCATION` of a registered sink, with its queue.
    ///
    /// - `label`: what it is called in metrics and log lines; its scheme by default.
    public func openSink(
        _ name: String, as label: String? = nil, host: StorageHost, options: SinkQueue.Options = SinkQueue.Options()
    ) async throws(DecisionSinkError) -> SinkQueue {
        guard let (scheme, location) = Self.parts(name), let plugin = sinks.chosen(by: scheme) else {
            let known = sinkDescriptors.map(\.usage).joined(separator: ", ")
            throw DecisionSinkError(
                "unknown sink '\(Self.parts(name)?.scheme ?? SafeText.of(name, limit: 40))'; "
                    + (known.isEmpty ? "this program has no sinks" : "the sinks are \(known)"))
        }
        var own = host
        let ownScheme = plugin.descriptor.scheme
        own.meter = host.meter.scoped(to: ownScheme)
        return SinkQueue(label ?? ownScheme, for: try await plugin.open(location, own), host: host, options: options)
    }
}
