import AssayClient
import Synchronization

/// A device's clock that stands still until a test moves it; the time of day is wrong by a century, or as a test sets it.
final class FakeClock: ClientClock {
    private struct Sleeper {
        let until: Moment
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Moment(uptime: .seconds(1000))
        var boot: String? = "8a1f2c3d-0000-4000-8000-000000000001"
        var unixMilliseconds: Int64 = 4_900_000_000_000
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    var now: Moment { state.withLock { $0.now } }
    var unixMilliseconds: Int64 {
        get { state.withLock { $0.unixMilliseconds } }
        set { state.withLock { $0.unixMilliseconds = newValue } }
    }
    var sleeping: [Moment] { state.withLock { $0.sleepers.values.map(\.until).sorted() } }

    var boot: String? {
        get { state.withLock { $0.boot } }
        set { state.withLock { $0.boot = newValue } }
    }

    func advance(by interval: Interval) {
        let due = state.withLock { state in
            state.now = state.now + interval
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// What a restart of the device does.
    func reboot() {
        state.withLock { state in
            state.now = Moment(uptime: .seconds(10))
            state.boot = "8a1f2c3d-0000-4000-8000-000000000002"
        }
    }

    func sleep(until moment: Moment) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if moment <= state.now { return .success(()) }
                    state.sleepers[id] = Sleeper(until: moment, continuation: continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
