public import AssayKit
internal import Synchronization

/// A clock that stands still until a test moves it.
///
/// Who sleeps by it wakes when the clock is moved far enough, or when the task is cancelled; no real time passes.
public final class ManualClock: Sendable {
    private struct Sleeper {
        let wakes: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Instant
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []
    }

    private let start: Instant
    private let state: Mutex<State>

    /// A clock that shows a time; by default 2026-11-21T12:00:00Z.
    public init(_ now: Instant = Instant(seconds: 1_795_262_400)) {
        start = now
        state = Mutex(State(now: now))
    }

    /// The time that it shows.
    public var now: Instant { state.withLock { $0.now } }

    /// How many tasks sleep by it.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the clock, back as well as forth, and wakes whose time has come.
    public func advance(by duration: Duration) {
        set(now + duration)
    }

    /// Sets the clock, and wakes whose time has come.
    public func set(_ now: Instant) {
        let awoken = state.withLock { state in
            state.now = now
            let due = state.sleepers.filter { $0.value.wakes <= now }
            for key in due.keys { state.sleepers[key] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in awoken { continuation.resume() }
    }

    /// The clock as a ``Host`` takes it.
    public var hostClock: HostClock {
        HostClock(now: { self.now }, uptime: { self.now - self.start }, sleep: { try await self.sleep(for: $0) })
    }

    private func sleep(for duration: Duration) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
                    guard duration > .zero else { return .success(()) }
                    state.sleepers[number] = Sleeper(wakes: state.now + duration, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
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
