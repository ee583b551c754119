internal import Synchronization

/// Stops calls to a server that does not answer, for a while after some consecutive failures.
///
/// Then one call is permitted, whose outcome closes the breaker or opens it again.
///
/// Time is the ``HostClock/uptime``, so that a change of the wall clock has no effect.
public final class CircuitBreaker: Sendable {
    /// Whether calls are allowed.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Calls are permitted.
        case closed
        /// Calls are refused.
        case open
        /// One request is in flight, and decides.
        case halfOpen = "half_open"
    }

    /// The outcome of a call.
    public enum Outcome: Sendable, Hashable, CaseIterable {
        /// The server answered.
        case success
        /// The server did not answer, or answered that it cannot serve the call.
        case failure
        /// The state of the server is unknown: the call was cancelled, or never made.
        case unknown
    }

    /// Whether a call may be made.
    public enum Admission: Sendable, Hashable {
        /// The call is permitted; its outcome must be passed to ``CircuitBreaker/end(_:_:)``.
        case admitted(Pass)
        /// The call is refused; calls are permitted again after this duration.
        case refused(retryAfter: Duration)
    }

    /// One call that was allowed.
    public struct Pass: Sendable, Hashable {
        /// How often the breaker had changed when the call started; outcomes of calls from earlier states are ignored.
        fileprivate let era: UInt64
    }

    private struct Storage {
        var state = State.closed
        var era: UInt64 = 0
        var failures = 0
        /// How many calls in a row were answered that nothing could be decided.
        var undecided = 0
        /// When the breaker opened, or let its one call through.
        var since = Duration.zero

        mutating func enter(_ next: State, at now: Duration) {
            state = next
            era &+= 1
            failures = 0
            since = now
        }
    }

    private let threshold: Int
    private let pause: Duration
    private let clock: HostClock
    private let storage = Mutex(Storage())

    /// Makes a closed breaker.
    ///
    /// - `threshold`: how many failures in a row open the breaker, at least 1.
    /// - `pause`: how long it stays open.
    public init(threshold: Int, pause: Duration, clock: HostClock) {
        self.threshold = max(threshold, 1)
        self.pause = pause
        self.clock = clock
    }

    /// The current state; a concurrent call may change it at any time.
    public var state: State { storage.withLock { $0.state } }

    /// Whether calls fail at present: they are stopped, or their answer was many times in a row that nothing could be decided.
    package var isFailing: Bool { storage.withLock { $0.state != .closed || $0.undecided >= threshold } }

    /// Reports the answer that nothing can be decided now: there is somebody who answers, so calls are not stopped, as it may be
    /// about one caller only.
    ///
    /// Returns the state that the breaker enters; nil when the state does not change.
    package func endUndecided(_ pass: Pass) -> State? {
        end(pass, .success, isDecided: false)
    }

    /// Asks for a call.
    public func begin() -> Admission {
        let now = clock.uptime
        return storage.withLock { storage in
            switch storage.state {
            case .closed: return .admitted(Pass(era: storage.era))
            case .open, .halfOpen:
                // A call without an outcome must not keep the breaker half-open forever.
                let left = storage.since + pause - now
                guard left <= .zero else { return .refused(retryAfter: left) }
                storage.enter(.halfOpen, at: now)
                return .admitted(Pass(era: storage.era))
            }
        }
    }

    /// Reports the outcome of a call.
    ///
    /// Returns the state that the breaker enters; nil when the state does not change.
    @discardableResult
    public func end(_ pass: Pass, _ outcome: Outcome) -> State? { end(pass, outcome, isDecided: true) }

    private func end(_ pass: Pass, _ outcome: Outcome, isDecided: Bool) -> State? {
        let now = clock.uptime
        return storage.withLock { storage in
            if outcome == .success { storage.undecided = isDecided ? 0 : storage.undecided + 1 }
            guard pass.era == storage.era else { return nil }
            switch (storage.state, outcome) {
            case (.closed, .success): storage.failures = 0
            case (.closed, .failure):
                storage.failures += 1
                if storage.failures >= threshold { return Self.enter(.open, &storage, now) }
            case (.halfOpen, .success): return Self.enter(.closed, &storage, now)
            case (.halfOpen, .failure): return Self.enter(.open, &storage, now)
            case (.halfOpen, .unknown):
                // The next call may try at once.
                storage.since = now - pause
            case (.closed, .unknown), (.open, _): break
            }
            return nil
        }
    }

    private static func enter(_ state: State, _ storage: inout Storage, _ now: Duration) -> State {
        storage.enter(state, at: now)
        return state
    }
}
