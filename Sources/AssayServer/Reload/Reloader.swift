public import AssayCore
public import AssayKit
internal import Dispatch
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// Reloads the policies, keys and files of a running service, on request or when files have changed.
///
/// Each subject is read on the reloader's own thread and put in force as a whole. If it cannot be read, the present one
/// stays in force, the failure is logged once, and ``readiness`` is degraded until it can be read. Changes are found by
/// the files' names, sizes, times and identities; a change is applied when two checks in a row find the same state, so
/// that files that are being written are not read. Files that keep changing are read after ten seconds nevertheless, and the log says
/// so: one file that another program writes all the time does not keep back the others.
public final class Reloader: Service {
    /// The state of one subject.
    private struct Progress {
        /// The state of its files at the beginning of the last attempt, successful or not.
        var taken: FileFingerprint?
        /// The state at the last check.
        var seen: FileFingerprint?
        /// Since when the files differ from those that were read, without two checks in a row that found the same state.
        var unsettled: Duration?
        /// Whether the files were read although they kept changing, since they last held still.
        var isRestless = false
        /// When the present value was read.
        var loaded: Instant
        var failure: Failure?
        /// When a failure may be tried again although no file has changed: its cause may be elsewhere.
        var retry: Duration = .zero
    }

    private struct Failure {
        /// The text that distinguishes it from another failure.
        let text: String
        let summary: String
    }

    private struct State {
        var progress: [Progress]
        /// Whether everything is to be read again.
        var isAsked = false
        /// The subjects that are to be read again although no file of theirs has changed.
        var changed: Set<ExactText> = []
    }

    /// The time from a failure to the next try, if no file has changed.
    private static let patience = Duration.seconds(10)
    /// The longest time that files may keep changing before they are read nevertheless.
    private static let longestUnrest = Duration.seconds(10)

    private let subjects: [ReloadSubject]
    private let interval: Duration?
    private let clock: HostClock
    private let logger: Logger
    private let observer: @Sendable (_ subject: String, _ outcome: ReloadOutcome) -> Void
    private let state: Mutex<State>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let thread = DispatchQueue(label: "assay.reload", qos: .utility)

    /// Makes a reloader of some subjects.
    ///
    /// - `subjects`: in the order in which they are reloaded.
    /// - `interval`: how often their files are checked; nil for never.
    /// - `observer`: receives the outcome of each attempt.
    public init(
        _ subjects: [ReloadSubject], interval: Duration? = .seconds(1), clock: HostClock = .system, logger: Logger,
        observer: @escaping @Sendable (_ subject: String, _ outcome: ReloadOutcome) -> Void = { _, _ in }
    ) {
        self.subjects = subjects
        self.interval = interval
        self.clock = clock
        self.logger = logger
        self.observer = observer
        let now = clock.now
        state = Mutex(State(progress: subjects.map { Progress(taken: $0.loaded, loaded: now) }))
        // One wake is enough: the requests are read afterwards.
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Requests a reload of everything, at once and also without a visible change.
    ///
    /// If a reload is running, another one follows it.
    public func requestReload() {
        state.withLock { $0.isAsked = true }
        wake.yield()
    }

    /// Requests that a subject is read again because something other than its files has changed.
    public func requestCheck(of subject: String) {
        state.withLock { _ = $0.changed.insert(ExactText(subject)) }
        wake.yield()
    }

    /// Requests that the files that are written to are opened again under their names, and nothing else.
    func requestReopening() {
        for subject in subjects where subject.action == .reopen { requestCheck(of: subject.name) }
    }

    /// Reloads everything, also without a visible change, and returns when that is done or has failed.
    public func reload() async {
        state.withLock { $0.isAsked = true }
        await work()
    }

    /// Degraded while a change cannot be applied; it never makes the service not ready.
    public var readiness: Readiness {
        let reasons = state.withLock { state in
            zip(subjects, state.progress).compactMap { subject, progress in
                progress.failure.map { failure in
                    switch subject.action {
                    case .reload: "\(subject.name): \(failure.summary); those of \(progress.loaded) stay in force"
                    case .reopen: "\(subject.name): \(failure.summary); the one of \(progress.loaded) stays in use"
                    }
                }
            }
        }
        return reasons.isEmpty ? .ready : .degraded(reasons.joined(separator: "; "))
    }

    /// Runs until graceful shutdown or cancellation; a running reload is finished first.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            if let interval {
                group.addTask { [clock, wake] in
                    while (try? await clock.sleep(for: interval)) != nil { wake.yield() }
                }
            }
            for await _ in wakes.cancelOnGracefulShutdown() { await work() }
            group.cancelAll()
        }
    }

    /// Does the due work on the reloader's own thread, so that no request waits for a disk or a large set of policies.
    package func work() async {
        await withCheckedContinuation { continuation in
            thread.async {
                let (isAsked, changed) = self.state.withLock { state in
                    defer { (state.isAsked, state.changed) = (false, []) }
                    return (state.isAsked, state.changed)
                }
                for index in self.subjects.indices
                where isAsked || changed.contains(ExactText(self.subjects[index].name)) || self.isDue(index) {
                    self.attempt(index, isAsked: isAsked)
                }
                continuation.resume()
            }
        }
    }

    /// Checks the files of a subject: whether they have changed and are stable, or have failed some time ago.
    private func isDue(_ index: Int) -> Bool {
        guard let present = subjects[index].fingerprint?() else { return false }
        let now = clock.uptime
        let (isDue, isNew) = state.withLock { state -> (Bool, Bool) in
            var progress = state.progress[index]
            defer { state.progress[index] = progress }
            let isStill = present == progress.seen
            progress.seen = present
            if isStill { (progress.unsettled, progress.isRestless) = (nil, false) }
            guard present != progress.taken else {
                return (progress.failure != nil && now >= progress.retry, false)
            }
            if isStill { return (true, false) }
            let begin = progress.unsettled ?? now
            progress.unsettled = begin
            guard now - begin >= Self.longestUnrest else { return (false, false) }
            defer { progress.isRestless = true }
            progress.unsettled = nil
            return (true, !progress.isRestless)
        }
        if isNew {
            logger.warning(
                "the files of \(subjects[index].name) keep changing: they are read as they are",
                metadata: ["seconds": "\(Self.longestUnrest.wholeSeconds)"])
        }
        return isDue
    }

    private func attempt(_ index: Int, isAsked: Bool) {
        let subject = subjects[index]
        // Taken before the reading: a change during the reading is found by the next check.
        let fingerprint = subject.fingerprint?()
        let result = Result { try subject.reload(isAsked ? .request : .change) }
        let before = state.withLock { state in
            defer {
                state.progress[index].taken = fingerprint
                switch result {
                case .success:
                    state.progress[index].failure = nil
                    state.progress[index].loaded = clock.now
                case .failure(let error):
                    let failure = ReloadFailure(error, of: subject.action)
                    state.progress[index].failure = Failure(text: failure.text, summary: failure.summary)
                    state.progress[index].retry = clock.uptime + Reloader.patience
                }
            }
            return state.progress[index].failure
        }
        switch result {
        case .success(let metadata?):
            logger.notice("\(subject.name) \(subject.action.past)", metadata: metadata)
            observer(subject.name, .reloaded)
        case .success(nil):
            if before == nil {
                logger.debug("\(subject.name) unchanged")
            } else {
                logger.notice("\(subject.name) can be read again; nothing differs from what is in use")
            }
            observer(subject.name, .unchanged)
        case .failure(let error):
            let failure = ReloadFailure(error, of: subject.action)
            if isAsked || !(before?.text).isExactly(failure.text) { failure.log(subject.name, to: logger) }
            observer(subject.name, .failed)
        }
    }
}
