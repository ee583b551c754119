internal import Synchronization

/// A rate for each of many keys, such as the peers of a server, in bounded memory.
///
/// The token bucket of a key is stored as the instant at which it is full again. When the memory is full, the keys that
/// were not seen for the longest time are removed, and have their whole burst again. A limit on unknown peers therefore
/// needs a second limit for all of them together.
public final class KeyedRate<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var recent: [Key: Duration] = [:]
        var older: [Key: Duration] = [:]
    }

    /// What one event costs.
    private let step: Duration
    /// How far ahead of the clock a bucket may be owed.
    private let depth: Duration
    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - interval: the time for one event in the long run.
    ///   - burst: how many events may come at once.
    ///   - capacity: how many keys are remembered at least; twice as many at most.
    public init(every interval: Duration, burst: Int, capacity: Int) {
        let burst = min(max(burst, 1), 1_000_000)
        step = min(max(interval, .microseconds(1)), .seconds(86_400))
        depth = step * burst
        self.capacity = max(capacity, 1)
    }

    /// Takes the cost of one event.
    ///
    /// - `uptime`: a clock that never goes back.
    /// - Returns: nil when it fits; otherwise how long it would have to wait. Nothing is taken then.
    public func take(_ key: Key, at uptime: Duration) -> Duration? {
        state.withLock { state in
            let next = max(Self.fullAt(key, state), uptime) + step
            guard next - uptime <= depth else { return next - uptime - depth }
            if state.recent[key] == nil, state.recent.count >= capacity {
                state.older = state.recent
                state.recent = [:]
            }
            state.recent[key] = next
            return nil
        }
    }

    /// How long an event would have to wait; nil when it fits.
    ///
    /// Nothing is taken.
    public func wait(_ key: Key, at uptime: Duration) -> Duration? {
        state.withLock { state in
            let next = max(Self.fullAt(key, state), uptime) + step
            return next - uptime <= depth ? nil : next - uptime - depth
        }
    }

    /// Whether a key took something that the time since then has not made up for.
    public func isOwing(_ key: Key, at uptime: Duration) -> Bool {
        state.withLock { Self.fullAt(key, $0) > uptime }
    }

    /// How many keys are remembered.
    package var count: Int { state.withLock { $0.recent.count + $0.older.count } }

    private static func fullAt(_ key: Key, _ state: State) -> Duration {
        state.recent[key] ?? state.older[key] ?? .zero
    }
}
