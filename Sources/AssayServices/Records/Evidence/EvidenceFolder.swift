public import AssayCore
public import AssayEngine
public import AssayKit
public import AssayPolicy
internal import Dispatch
public import Logging
internal import Synchronization

/// Keeps captured evidence in the files of a folder, encrypted for the key of the policy; `EvidenceLine` describes a line.
///
/// No decision waits for it: evidence goes through a bounded queue to one writer, which encrypts it. What the writer cannot
/// keep up with, or cannot write, is lost, which is counted and logged. How much is captured is limited, so that a flood of
/// refused requests costs a bounded amount of work, and no app's flood hides the evidence of another.
public final class EvidenceFolder: EvidenceSink {
    /// The bounds of the work for captured evidence.
    public struct Options: Sendable {
        /// How many records are captured in a second at most, on average.
        public var perSecond: Int
        /// How many records may wait to be written.
        public var queueLimit: Int
        /// How many bytes the texts of waiting records may have.
        public var queueByteLimit: Int
        /// The pause after a failed write.
        public var retryDelay: Duration

        /// By default, 50 records a second, of which 512 with 16 MiB may wait, and a pause of a second.
        public init(
            perSecond: Int = 50, queueLimit: Int = 512, queueByteLimit: Int = 16 << 20,
            retryDelay: Duration = .seconds(1)
        ) {
            self.perSecond = max(1, perSecond)
            self.queueLimit = max(1, queueLimit)
            self.queueByteLimit = max(1, queueByteLimit)
            self.retryDelay = retryDelay
        }
    }

    private struct Entry {
        let evidence: CapturedEvidence
        let target: CaptureTarget
        /// About how many bytes it has.
        let bytes: Int
    }

    private struct State {
        /// The records that wait, the oldest first.
        var waiting: [Entry] = []
        var bytes = 0
        /// Whether the writer runs, or will after a pause.
        var isScheduled = false
        /// Why the last write failed; nil when it succeeded.
        var failure: String?
        /// How many records were not kept since the last log line about it, and when that was.
        var lost = 0
        var warned: Duration?
    }

    /// The folder as the operator named it.
    public let path: String
    private let options: Options
    private let logger: Logger
    private let meter: Meter
    private let clock: HostClock
    private let rate: EvidenceRate
    /// The writer's queue: separate from the threads that decide.
    private let queue = DispatchQueue(label: "assay.evidence", qos: .utility)
    private let state = Mutex(State())
    /// Only the writer uses them.
    private let files: Mutex<EvidenceFiles>

    private static let warningInterval = Duration.seconds(60)

    /// Opens a folder with the mode 0700, or makes it.
    ///
    /// - Throws: ``EvidenceFolderError`` when it cannot be used, when others may use it, or when another server does.
    public init(
        path: String, logger: Logger, meter: Meter = .none, clock: HostClock = .system, options: Options = Options()
    ) throws(EvidenceFolderError) {
        files = Mutex(try EvidenceFiles(path))
        self.path = path
        self.options = options
        self.logger = logger
        self.meter = meter
        self.clock = clock
        rate = EvidenceRate(perSecond: options.perSecond)
        meter.add(0, to: EvidenceMetrics.captured)
        for cause in EvidenceMetrics.Cause.allCases { meter.add(0, to: EvidenceMetrics.lost, cause.rawValue) }
        meter.set(0, of: EvidenceMetrics.waiting)
        meter.set(1, of: EvidenceMetrics.isWritable)
        meter.set(Double(files.withLock { $0.total }), of: EvidenceMetrics.size)
    }

    /// Whether evidence can be written; decisions continue in any case.
    public var readiness: Readiness {
        state.withLock { $0.failure }.isNil ? .ready : .degraded("captured evidence cannot be written")
    }

    /// Puts evidence in the queue, if the rate allows it.
    public func add(
        of app: ExactText, peer: String?, _ target: CaptureTarget, _ evidence: () -> CapturedEvidence
    ) {
        guard rate.admits(app, peer: peer, at: clock.uptime) else {
            return meter.add(to: EvidenceMetrics.lost, EvidenceMetrics.Cause.rate.rawValue)
        }
        let evidence = evidence()
        let entry = Entry(evidence: evidence, target: target, bytes: evidence.body.textBytes + 1024)
        let (isLost, starts) = state.withLock { state in
            guard state.waiting.count < options.queueLimit, state.bytes + entry.bytes <= options.queueByteLimit else {
                state.lost += 1
                return (true, false)
            }
            state.waiting.append(entry)
            state.bytes += entry.bytes
            meter.set(Double(state.waiting.count), of: EvidenceMetrics.waiting)
            defer { state.isScheduled = true }
            return (false, !state.isScheduled)
        }
        if isLost { meter.add(to: EvidenceMetrics.lost, EvidenceMetrics.Cause.queue.rawValue) }
        if starts { queue.async { self.drain() } }
    }

    /// Deletes the records that a policy keeps no longer.
    ///
    /// Call it regularly: what is too old must go also when nothing is captured.
    public func tidy(_ limits: CaptureLimits) {
        queue.async { [self] in
            let total = files.withLock { files in
                files.list()
                files.prune(at: clock.now, limits)
                return files.total
            }
            meter.set(Double(total), of: EvidenceMetrics.size)
            report()
        }
    }

    /// Writes all waiting records; those that cannot be written are lost.
    ///
    /// Call it after the last decision.
    public func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.drain(isLast: true)
                self.files.withLock { $0.finish() }
                continuation.resume()
            }
        }
    }

    // MARK: - The writer, on its queue

    private func drain(isLast: Bool = false) {
        var failure: String?
        var isTried = false
        while failure.isNil || isLast, let entry = next() {
            failure = write(entry)
            isTried = true
            if failure.isNil {
                meter.add(to: EvidenceMetrics.captured)
            } else {
                // It is not tried again: the next one shows whether there is room.
                meter.add(to: EvidenceMetrics.lost, EvidenceMetrics.Cause.disk.rawValue)
                state.withLock { $0.lost += 1 }
            }
        }
        meter.set(Double(files.withLock { $0.total }), of: EvidenceMetrics.size)
        // If nothing was to be written, nothing is known about the disk.
        if !isTried { failure = state.withLock { $0.failure } }
        meter.set(failure.isNil ? 1 : 0, of: EvidenceMetrics.isWritable)
        finish(failure)
    }

    private func next() -> Entry? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let entry = state.waiting.removeFirst()
            state.bytes -= entry.bytes
            meter.set(Double(state.waiting.count), of: EvidenceMetrics.waiting)
            return entry
        }
    }

    private func write(_ entry: Entry) -> String? {
        let limits = entry.target.limits
        do {
            let line = try EvidenceLine.encode(entry.evidence, for: entry.target.recipient, limit: limits.evidence)
            return files.withLock { $0.append(line, at: clock.now, limits) }
        } catch {
            return "\(error)"
        }
    }

    private func finish(_ failure: String?) {
        let (before, isMore) = state.withLock { state in
            let before = state.failure
            state.failure = failure
            state.isScheduled = !state.waiting.isEmpty
            return (before, state.isScheduled)
        }
        if let failure, before.isNil {
            logger.error(
                "captured evidence cannot be written and is lost",
                metadata: ["folder": "\(path)", "error": "\(failure)"])
        } else if failure.isNil, !before.isNil {
            logger.notice("captured evidence is written again", metadata: ["folder": "\(path)"])
        }
        report()
        guard isMore else { return }
        let delay = failure.isNil ? 0 : options.retryDelay / .seconds(1)
        queue.asyncAfter(deadline: .now() + delay) { self.drain() }
    }

    /// Logs how much was lost, once in an interval.
    private func report() {
        let now = clock.uptime
        let lost = state.withLock { state in
            guard state.lost > 0, state.warned.map({ now - $0 >= Self.warningInterval }) ?? true else { return 0 }
            state.warned = now
            defer { state.lost = 0 }
            return state.lost
        }
        guard lost > 0 else { return }
        logger.warning(
            "evidence that was to be captured is lost", metadata: ["folder": "\(path)", "count": "\(lost)"])
    }
}

/// The metrics of captured evidence.
enum EvidenceMetrics {
    enum Cause: String, CaseIterable {
        /// More came than may be captured in a second.
        case rate
        /// Too much waits to be written.
        case queue
        /// It could not be written.
        case disk
    }

    static let captured = Metric.counter("evidence_captured_total", "Records of captured evidence that were written.")
    static let lost = Metric.counter(
        "evidence_lost_total",
        "Evidence that was to be captured and was not: above the rate, because too much waits, or because it cannot be written.",
        labels: [.init("cause", Cause.allCases.map(\.rawValue))])
    static let waiting = Metric.gauge("evidence_waiting", "Records of captured evidence that wait to be written.")
    static let size = Metric.gauge("evidence_folder_bytes", "The size of all captured evidence in the folder.")
    static let isWritable = Metric.gauge(
        "evidence_writable", "Whether the last record of captured evidence could be written: 1 or 0.")

    static let all = [captured, lost, waiting, size, isWritable]
}
