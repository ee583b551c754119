public import AssayCore
public import AssayHosting
internal import Dispatch
public import Logging
public import ServiceLifecycle
internal import Synchronization

/// Reads again what a service runs by, when it is asked to or when files have changed, while the service goes on.
///
/// Each subject is read on a thread of the reloader's own and put in force as a whole; what cannot be read leaves what is
/// in force as it is, is logged once, and makes ``readiness`` degraded until it can be read. Changes are seen by looking
/// at the files' names, sizes, times and identities; a change is taken when it has held still from one look to the next,
/// so that files that are being written are left alone.
public final class Reloader: Service {
    /// What is known of one subject.
    private struct Progress {
        /// The state of its files that the last attempt, good or bad, began with.
        var taken: FileFingerprint?
        /// The state at the last look.
        var seen: FileFingerprint?
        /// When what is in force was read.
        var loaded: Instant
        var failure: Failure?
        /// When a failure may be tried again though no file has changed: what it was about may be elsewhere.
        var retry: Duration = .zero
    }

    private struct Failure {
        /// By which it is told from another one.
        let text: String
        let summary: String
    }

    private struct State {
        var progress: [Progress]
        /// Whether everything is to be read again.
        var isAsked = false
    }

    /// How long after a failure it is tried again, where no file has changed.
    private static let patience = Duration.seconds(10)

    private let subjects: [ReloadSubject]
    private let interval: Duration?
    private let clock: HostClock
    private let logger: Logger
    private let observer: @Sendable (_ subject: String, _ outcome: ReloadOutcome) -> Void
    private let state: Mutex<State>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let thread = DispatchQueue(label: "assay.reload", qos: .utility)

    /// - Parameters:
    ///   - subjects: in the order in which they are reloaded.
    ///   - interval: how often their files are looked at; nil for never.
    ///   - observer: is told what came of each attempt.
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
        // One wake is enough: what it is about is asked then.
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Asks for everything to be read again, at once and also where no change is seen.
    ///
    /// While a reload is under way, another one follows it.
    public func requestReload() {
        state.withLock { $0.isAsked = true }
        wake.yield()
    }

    /// Degraded while something that was changed cannot be taken; it never says that the service is not ready.
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

    /// Works until graceful shutdown or cancellation; a reload that has begun is ended first.
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

    /// Does what is due, on the reloader's own thread: no request waits for a disk or for a large set of policies.
    package func work() async {
        await withCheckedContinuation { continuation in
            thread.async {
                let isAsked = self.state.withLock { state in
                    defer { state.isAsked = false }
                    return state.isAsked
                }
                for index in self.subjects.indices where isAsked || self.isDue(index) {
                    self.attempt(index, isAsked: isAsked)
                }
                continuation.resume()
            }
        }
    }

    /// Looks at the files of a subject: whether they have changed and hold still, or have failed a while ago.
    private func isDue(_ index: Int) -> Bool {
        guard let present = subjects[index].fingerprint?() else { return false }
        let now = clock.uptime
        return state.withLock { state in
            defer { state.progress[index].seen = present }
            let progress = state.progress[index]
            if present != progress.taken { return present == progress.seen }
            return progress.failure != nil && now >= progress.retry
        }
    }

    private func attempt(_ index: Int, isAsked: Bool) {
        let subject = subjects[index]
        // From before the reading: what changes meanwhile is a change at the next look.
        let fingerprint = subject.fingerprint?()
        let result = Result { try subject.reload() }
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
            logger.debug("\(subject.name) unchanged")
            observer(subject.name, .unchanged)
        case .failure(let error):
            let failure = ReloadFailure(error, of: subject.action)
            if isAsked || !(before?.text).isExactly(failure.text) { failure.log(subject.name, to: logger) }
            observer(subject.name, .failed)
        }
    }
}
