public import AssayCore
public import AssayKit
internal import Dispatch
public import Logging
internal import Synchronization

/// Writes a line of JSON for each decision to a file; *Audit records* in the article *Run a server* lists the fields.
///
/// Decisions do not wait for the disk: records go through a bounded queue to one writer. While the file cannot be
/// written, for example because the disk is full, records wait, and the writer tries again every second. When the queue
/// is full too, further records are lost; the loss is counted, logged and shown in ``readiness``. The operator chooses
/// whether decisions continue meanwhile: see ``blockingReason``.
///
/// When the open file is removed, the writer notices within a second and makes a new one under the same path; the records in
/// the removed file are lost, and the log says so. Where none can be made, because the folder is gone too, ``readiness`` shows
/// it, and records wait. A file that was truncated is written to at its new end. Both are on record in the chain, which continues, so that
/// `assay audit verify` finds what is missing. A renamed file is written to until ``reopen()``.
///
/// Waiting records are only in memory. ``close()`` writes them; a killed process loses them.
public final class AuditFile: DecisionSink {
    /// The behaviour of an audit file.
    public struct Options: Sendable {
        /// How many records may wait to be written.
        public var queueLimit: Int
        /// The pause after a failed write, and between looks at whether the file was removed.
        public var retryDelay: Duration
        /// When the file is rotated by itself.
        public var rotation: AuditRotation

        /// By default, 16,384 records may wait, a failed write is tried again after a second, and nothing is rotated.
        public init(
            queueLimit: Int = 16_384, retryDelay: Duration = .seconds(1), rotation: AuditRotation = AuditRotation()
        ) {
            self.queueLimit = max(1, queueLimit)
            self.retryDelay = retryDelay
            self.rotation = rotation
        }
    }

    /// The source of a line.
    private enum Entry {
        case decision(DecisionRecord)
        case summary(DecisionSummary)
        case event(AuditEvent)
        case removal(AuditRemoval, AuditEvent)

        var line: [UInt8] {
            switch self {
            case .decision(let record): AuditLine.encode(record).dropLast()
            case .summary(let summary): AuditLine.encode(summary).dropLast()
            case .event(let event), .removal(_, let event): AuditLine.encode(event).dropLast()
            }
        }
    }

    private struct State {
        /// A file that was opened again, which the writer has not taken yet.
        var other: AuditDescriptor?
        /// Which file is open, or will be.
        var file: FileIdentity?
        /// The entries that came since the writer last looked.
        var incoming: [Entry] = []
        /// The entries that the writer has taken and not written yet, the next one last.
        var taken: [Entry] = []
        /// Whether the writer runs or is about to run, and will see new entries.
        var isScheduled = false
        /// Whether it will run once more after a pause.
        var isRetryScheduled = false
        /// Why the last write failed; nil when it succeeded.
        var failure: String?
        /// How many records were lost since the last log line about it.
        var lost = 0
        /// When the log last reported a loss.
        var warned: Duration?
        /// Whether the file is no longer looked after.
        var isClosed = false

        var count: Int { incoming.count + taken.count }
    }

    /// The path as the operator gave it.
    public let path: String
    private let options: Options
    private let logger: Logger
    private let meter: Meter
    private let clock: HostClock
    /// The writer's queue: separate from the threads that decide, because disks can hang.
    private let queue = DispatchQueue(label: "assay.audit")
    private let state = Mutex(State())
    /// Locked by the writer while it writes.
    private let trail: Mutex<AuditTrail>

    private static let warningInterval: Duration = .seconds(10)

    /// Opens the file to append to it; makes it, with mode 0600, if it is missing.
    ///
    /// - `path`: the file; `-` for the standard output.
    /// - Throws: ``AuditError`` when it cannot be opened, or another server has it open.
    public init(
        path: String, logger: Logger, meter: Meter = .none, clock: HostClock = .system,
        randomness: Randomness = .system, options: Options = Options()
    ) throws(AuditError) {
        trail = Mutex(
            try AuditTrail(path, rotation: options.rotation, logger: logger, clock: clock, randomness: randomness))
        let file = trail.withLock { $0.file.file }
        state.withLock { $0.file = file }
        self.path = path
        self.options = options
        self.logger = logger
        self.meter = meter
        self.clock = clock
        meter.add(0, to: AuditMetrics.written, path)
        meter.add(0, to: AuditMetrics.lost, path)
        meter.add(0, to: AuditMetrics.summed, path)
        meter.set(0, of: AuditMetrics.waiting, path)
        meter.set(1, of: AuditMetrics.isWritable, path)
        for cause in AuditInterruption.allCases { meter.add(0, to: AuditMetrics.interruptions, path, cause.rawValue) }
        trail.withLock { $0.keeper }.start { [weak self] in self?.announce($0) }
        scheduleWatch()
    }

    /// Puts a decision in the queue.
    public func record(_ record: DecisionRecord) {
        add(.decision(record))
    }

    /// Puts the sum of many decisions in the queue.
    public func record(_ summary: DecisionSummary) {
        meter.add(Double(summary.total), to: AuditMetrics.summed, path)
        add(.summary(summary))
    }

    /// Puts a change of the service itself in the queue.
    public func record(_ event: AuditEvent) {
        add(.event(event))
    }

    /// Puts the removal of a rotated file on record, after which it is removed.
    private func announce(_ removal: AuditRemoval) {
        let event = AuditEvent(time: clock.now, kind: .auditRemoved, details: removal.details)
        add(.removal(removal, event), isLimited: false)
    }

    private func add(_ entry: Entry, isLimited: Bool = true) {
        let (isLost, starts) = state.withLock { state in
            // The file may be another server's by now; that one announces removals again.
            guard !state.isClosed else { return (isLimited, false) }
            guard state.count < options.queueLimit || !isLimited else {
                state.lost += 1
                return (true, false)
            }
            state.incoming.append(entry)
            defer { state.isScheduled = true }
            return (false, !state.isScheduled)
        }
        if isLost { meter.add(to: AuditMetrics.lost, path) }
        if starts { queue.async { self.drain() } }
    }

    /// Opens the path again, after the file was renamed, so that writing continues in a new one.
    ///
    /// - Throws: ``AuditError`` when it cannot be opened; writing then continues in the old one.
    public func reopen() throws(AuditError) {
        if path.isExactly(AuditDescriptor.standardOutput) { return }
        let present = state.withLock { $0.file }
        // A second descriptor could not get the lock of the same file.
        if let present, present == FileIdentity(path: path) { return }
        let file = try AuditDescriptor(path)
        state.withLock { state in
            state.other = file
            state.file = file.file
        }
        queue.async { self.drain() }
    }

    /// Whether records can be written.
    public var readiness: Readiness {
        blockingReason.map { .degraded($0) } ?? .ready
    }

    /// Why records cannot be written, in words; nil when they can.
    ///
    /// An engine that must not decide without a record uses this as its `Engine.Options.blockingReason`.
    public var blockingReason: String? {
        state.withLock { state in
            if state.isClosed { return "the audit file is closed" }
            if !state.failure.isNil { return "audit records cannot be written" }
            return state.count < options.queueLimit ? nil : "too many audit records wait to be written"
        }
    }

    /// Writes all waiting records, and makes them survive a loss of power.
    ///
    /// Records that cannot be written are lost then, and so are later ones. The file can be opened again as soon as it returns.
    ///
    /// Call it after the last decision.
    public func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.drain()
                self.abandon()
                continuation.resume()
            }
        }
    }

    // MARK: - The writer, on its queue

    private func drain() {
        var written = 0
        var failure: String?
        while failure.isNil, let entry = next() {
            switch trail.withLock({ $0.write(entry.line) }) {
            case .whole:
                written += 1
                state.withLock { state in _ = state.taken.popLast() }
                if case .removal(let removal, _) = entry { trail.withLock { $0.keeper }.remove(removal) }
            case .interrupted: break
            case .failed(let words): failure = words
            }
            noteInterruption()
        }
        finish(written, failure)
    }

    /// Counts what another program did to the file, and puts it on record as the next line; returns whether there was something.
    @discardableResult
    private func noteInterruption() -> Bool {
        let (interruption, head) = trail.withLock { ($0.takeInterruption(), $0.head) }
        guard let interruption else { return false }
        meter.add(to: AuditMetrics.interruptions, path, interruption.rawValue)
        // Nothing of a file that was only renamed is lost.
        guard interruption != .renamed else { return false }
        var details = [JSONMember("cause", .string(interruption.rawValue))]
        if let head { details.append(JSONMember("last_seq", .integer(Int64(clamping: head.sequence)))) }
        let event = AuditEvent(time: clock.now, kind: .auditInterrupted, details: details)
        state.withLock { $0.taken.append(.event(event)) }
        return true
    }

    /// The next record to write.
    ///
    /// It counts as waiting until it is written.
    private func next() -> Entry? {
        let (entry, other) = state.withLock { state in
            if state.taken.isEmpty {
                swap(&state.taken, &state.incoming)
                state.taken.reverse()
            }
            defer { state.other = nil }
            return (state.taken.last, state.other)
        }
        guard let other else { return entry }
        let metadata = trail.withLock { trail in
            trail.go(to: other)
            return trail.metadata
        }
        logger.info("audit file opened again", metadata: metadata)
        return noteInterruption() ? state.withLock { $0.taken.last } : entry
    }

    private func finish(_ written: Int, _ failure: String?) {
        let now = clock.uptime
        let (file, head) = trail.withLock { ($0.file.file, $0.head) }
        let (before, lost, count, retries) = state.withLock { state in
            if state.other == nil { state.file = file }
            let before = state.failure
            state.failure = failure
            // The next run sees the entries that came since the last look.
            state.isScheduled = state.count > 0
            let retries = state.isScheduled && !state.isRetryScheduled
            if retries { state.isRetryScheduled = true }
            var lost = 0
            if state.lost > 0, state.warned.map({ now - $0 >= AuditFile.warningInterval }) ?? true {
                swap(&lost, &state.lost)
                state.warned = now
            }
            return (before, lost, state.count, retries)
        }
        meter.add(Double(written), to: AuditMetrics.written, path)
        meter.set(Double(count), of: AuditMetrics.waiting, path)
        if let head { meter.set(Double(head.sequence), of: AuditMetrics.sequence, path) }
        meter.set(failure.isNil ? 1 : 0, of: AuditMetrics.isWritable, path)
        let name: Logger.MetadataValue = "\(path)"
        if let failure, before.isNil {
            logger.error(
                "audit records cannot be written and wait", metadata: ["file": name, "error": "\(failure)"])
        } else if failure.isNil, !before.isNil {
            logger.notice("audit records are written again", metadata: ["file": name])
        }
        if lost > 0 { logger.error("audit records are lost", metadata: ["file": name, "count": "\(lost)"]) }
        if retries {
            let delay = failure.isNil ? 0 : options.retryDelay / .seconds(1)
            queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.retry() }
        }
    }

    private func scheduleWatch() {
        let pause = max(options.retryDelay / .seconds(1), 0.001)
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.watch() }
    }

    /// Notices that the file was removed, also while no record comes.
    private func watch() {
        let (isClosed, isIdle, isFailing) = state.withLock { state in
            // A file that was opened again is taken with the next run.
            (state.isClosed, state.other == nil, !state.failure.isNil && state.count == 0)
        }
        if isClosed { return }
        if isIdle {
            let failure = trail.withLock { $0.look() }
            if noteInterruption(), failure.isNil {
                drain()
            } else if !failure.isNil || isFailing {
                finish(0, failure)
            }
        }
        scheduleWatch()
    }

    private func retry() {
        state.withLock { $0.isRetryScheduled = false }
        drain()
    }

    private func abandon() {
        let (waiting, lost) = state.withLock { state in
            let waiting = state.count
            state.taken = []
            state.incoming = []
            state.isClosed = true
            defer { state.lost = 0 }
            return (waiting, state.lost)
        }
        let metadata = trail.withLock { trail in
            trail.abandon()
            trail.file.flush()
            trail.close()
            return trail.metadata
        }
        // Whoever keeps the log elsewhere notices lines that are removed from the end.
        if metadata["seq"] != nil { logger.info("audit file closed", metadata: metadata) }
        meter.add(Double(waiting), to: AuditMetrics.lost, path)
        meter.set(0, of: AuditMetrics.waiting, path)
        guard waiting + lost > 0 else { return }
        logger.error("audit records are lost", metadata: ["file": "\(path)", "count": "\(waiting + lost)"])
    }
}

/// The reason why an audit file cannot be opened, in words for an operator.
public struct AuditError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in words.
    @Exact public private(set) var message: String

    init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

/// The metrics of an audit file.
enum AuditMetrics {
    private static let file = Metric.Label.open("file", atMost: 16)

    static let written = Metric.counter(
        "audit_records_written_total", "Audit records written to the file.", labels: [file])
    static let lost = Metric.counter(
        "audit_records_lost_total", "Audit records that could not be written and are lost.", labels: [file])
    static let summed = Metric.counter(
        "audit_records_summed_total", "Decisions that are in a sum of the audit file and have no record of their own.",
        labels: [file])
    static let waiting = Metric.gauge(
        "audit_records_waiting", "Audit records that wait to be written.", labels: [file])
    static let isWritable = Metric.gauge(
        "audit_writable", "Whether the last write to the audit file succeeded: 1 or 0.", labels: [file])
    static let interruptions = Metric.counter(
        "audit_file_interruptions_total",
        "Times that another program removed, truncated, replaced or renamed the audit file while it was open.",
        labels: [file, .init("cause", AuditInterruption.allCases.map(\.rawValue))])
    static let sequence = Metric.gauge(
        "audit_sequence", "The number of the last line in the chain of the audit file.", labels: [file])
}
