internal import Synchronization

/// Keeps calls from a server that does not answer: after some failures in a row none is let through for a while, then
/// one, which tells whether the server is back.
///
/// Time is the ``HostClock/uptime``, so that a clock that is set does neither open nor close it.
public final class CircuitBreaker: Sendable {
    /// Whether calls are let through.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// They are.
        case closed
        /// None is.
        case open
        /// One is on its way, and decides.
        case halfOpen = "half_open"
    }

    /// What became of a call.
    public enum Outcome: Sendable, Hashable, CaseIterable {
        /// The server answered.
        case success
        /// It did not, or says that it cannot.
        case failure
        /// Nothing was learned of the server: the call was given up, or never made.
        case unknown
    }

    /// Whether a call may be made.
    public enum Admission: Sendable, Hashable {
        /// It may, and ``CircuitBreaker/end(_:_:)`` must be told what became of it.
        case admitted(Pass)
        /// It may not for that long.
        case refused(retryAfter: Duration)
    }

    /// One call that was let through.
    public struct Pass: Sendable, Hashable {
        /// How often the breaker had changed: what became of a call tells nothing of a later state.
        fileprivate let era: UInt64
    }

    private struct Storage {
        var state = State.closed
        var era: UInt64 = 0
        var failures = 0
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

    /// - Parameters:
    ///   - threshold: how many failures in a row open the breaker, at least 1.
    ///   - pause: how long it stays open.
    public init(threshold: Int, pause: Duration, clock: HostClock) {
        self.threshold = max(threshold, 1)
        self.pause = pause
        self.clock = clock
    }

    public var state: State { storage.withLock { $0.state } }

    /// Asks for a call.
    public func begin() -> Admission {
        let now = clock.uptime
        return storage.withLock { storage in
            switch storage.state {
            case .closed: return .admitted(Pass(era: storage.era))
            case .open, .halfOpen:
                // A call that never came back must not keep the breaker half-open for ever.
                let left = storage.since + pause - now
                guard left <= .zero else { return .refused(retryAfter: left) }
                storage.enter(.halfOpen, at: now)
                return .admitted(Pass(era: storage.era))
            }
        }
    }

    /// Says what became of a call. Returns the state that the breaker entered by that; nil when it stays in its own.
    @discardableResult
    public func end(_ pass: Pass, _ outcome: Outcome) -> State? {
        let now = clock.uptime
        return storage.withLock { storage in
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
