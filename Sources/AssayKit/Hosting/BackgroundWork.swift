package import AssayCore
package import Logging
internal import Synchronization

/// The `run()` of a store or a sink: continues for the life of a process, and begins again after a failure.
package final class BackgroundWork: Sendable {
    private struct State {
        /// Why the last run failed, and how long it had lasted.
        var failure: (text: String, lasted: Duration)?
        /// When the present run began; nil while none runs.
        var began: Duration?
    }

    private let subject: String
    private let clock: HostClock
    private let randomness: Randomness
    private let logger: Logger
    private let work: @Sendable () async throws -> Void
    private let state = Mutex(State())

    /// The work begins again soon after an outage is over, since nothing is known of that here.
    private static let backoff = Backoff(first: .seconds(1), limit: .seconds(15))
    /// How long a run has to last, at most, before it counts as one that works.
    private static let settling = Duration.seconds(5)
    /// A run that lasted so long was in order: its failure is counted as the first one.
    private static let probation = Duration.seconds(60)

    /// - Parameter subject: what the work belongs to, for log lines and reasons: `the state store sqlite`.
    package init(
        _ subject: String, clock: HostClock, randomness: Randomness = .system, logger: Logger,
        work: @escaping @Sendable () async throws -> Void
    ) {
        self.subject = subject
        self.clock = clock
        self.randomness = randomness
        self.logger = logger
        self.work = work
    }

    /// Runs the work until the task is cancelled or the work has nothing more to do.
    package func run() async {
        var failures = 0
        while !Task.isCancelled {
            let began = clock.uptime
            state.withLock { $0.began = began }
            do {
                try await work()
                state.withLock { $0 = State() }
                return
            } catch {
                guard !Task.isCancelled else { return }
                let lasted = clock.uptime - began
                let text = SafeText.of("\(error)")
                state.withLock { $0 = State(failure: (text, lasted), began: nil) }
                failures = lasted >= Self.probation ? 1 : failures + 1
                let pause = Self.backoff.delay(after: failures, randomness: randomness)
                logger.error(
                    "work for the life of the process failed; it begins again",
                    metadata: [
                        "of": "\(subject)", "error": "\(SafeText.field(text))", "next_s": "\(pause.wholeSeconds)",
                    ])
                guard (try? await clock.sleep(for: pause)) != nil else { return }
            }
        }
    }

    /// Degraded from a failure until a run has lasted longer than the one that failed, or some seconds.
    package var readiness: Readiness {
        let now = clock.uptime
        return state.withLock { state in
            guard let failure = state.failure else { return .ready }
            if let began = state.began, now - began > min(failure.lasted, Self.settling) { return .ready }
            return .degraded("the work of \(subject) fails: \(failure.text)")
        }
    }
}
