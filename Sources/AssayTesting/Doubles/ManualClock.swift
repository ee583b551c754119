public import AssayCore
internal import Synchronization

/// A clock that stops until a test moves it.
///
/// A sleeping task wakes when the clock is moved far enough, or when the task is cancelled; no real time passes.
public final class ManualClock: Sendable {
    private struct Sleeper {
        let wakes: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now: Instant
        /// How far the time of day has jumped without the uptime.
        var jumped = Duration.zero
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Int: Watcher] = [:]
        /// Sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []

        mutating func number() -> Int {
            next += 1
            return next
        }

        /// The waiters that have enough sleepers now.
        mutating func content() -> [CheckedContinuation<Void, Never>] {
            let content = watchers.filter { $0.value.count <= sleepers.count }
            for key in content.keys { watchers[key] = nil }
            return content.values.map(\.continuation)
        }
    }

    private let start: Instant
    private let state: Mutex<State>

    /// Makes a clock with a time; by default 2026-11-21T12:00:00Z.
    public init(_ now: Instant = Instant(seconds: 1_795_262_400)) {
        start = now
        state = Mutex(State(now: now))
    }

    /// The present time of the clock.
    public var now: Instant { state.withLock { $0.now + $0.jumped } }

    /// How many tasks sleep by it.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// When the first of the tasks that sleep by it wakes; nil while none sleeps.
    public var nextWake: Instant? { state.withLock { $0.sleepers.values.map(\.wakes).min() } }

    /// Waits until a number of tasks sleep by it, or until the waiting task is cancelled.
    public func waitForSleepers(_ count: Int) async {
        let number = state.withLock { $0.number() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isContent = state.withLock { state in
                    if state.cancelled.remove(number) != nil || state.sleepers.count >= count { return true }
                    state.watchers[number] = Watcher(count: count, continuation: continuation)
                    return false
                }
                if isContent { continuation.resume() }
            }
        } onCancel: {
            let watcher = state.withLock { state in
                let watcher = state.watchers.removeValue(forKey: number)
                if watcher == nil { state.cancelled.insert(number) }
                return watcher
            }
            watcher?.continuation.resume()
        }
    }

    /// Moves the clock, back as well as forth, and wakes whose time has come.
    public func advance(by duration: Duration) {
        move { $0 + duration }
    }

    /// Sets the clock, and wakes whose time has come.
    public func set(_ now: Instant) {
        move { _ in now }
    }

    /// Sets the time of day wrong, or right again, by a duration: no time passes.
    public func jump(by duration: Duration) {
        state.withLock { $0.jumped += duration }
    }

    private func move(_ time: (Instant) -> Instant) {
        let awoken = state.withLock { state in
            let now = time(state.now + state.jumped) - state.jumped
            state.now = now
            let due = state.sleepers.filter { $0.value.wakes <= now }
            for key in due.keys { state.sleepers[key] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in awoken { continuation.resume() }
    }

    private var uptime: Duration { state.withLock { $0.now } - start }

    /// The clock for a `PluginHost`.
    public var hostClock: HostClock {
        HostClock(now: { self.now }, uptime: { self.uptime }, sleep: { try await self.sleep(for: $0) })
    }

    private func sleep(for duration: Duration) async throws {
        let number = state.withLock { $0.number() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                var content: [CheckedContinuation<Void, Never>] = []
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
                    guard duration > .zero else { return .success(()) }
                    state.sleepers[number] = Sleeper(wakes: state.now + duration, continuation: continuation)
                    content = state.content()
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
                for watcher in content { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                guard let sleeper = state.sleepers.removeValue(forKey: number) else {
                    state.cancelled.insert(number)
                    return nil as Sleeper?
                }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
