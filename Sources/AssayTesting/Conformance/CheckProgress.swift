internal import AssayCore
internal import Synchronization

/// The operations of a plugin that one check has called: a check that hangs is known by those that never end.
final class CheckProgress: Sendable {
    private struct State {
        var running: [Int: String] = [:]
        var begun = 0
        var last = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// How many operations began.
    var calls: Int { state.withLock { $0.begun } }

    /// How long ago the last one began or ended.
    var silence: Duration { state.withLock { ContinuousClock.now - $0.last } }

    /// The operations that have not ended, in words; nil when there are none.
    var unended: String? {
        let names = state.withLock { Set($0.running.values.map { ExactText($0) }) }
        return names.isEmpty ? nil : names.sorted().map { "`\($0.string)`" }.joined(separator: ", ")
    }

    func during<Value, Failure>(
        _ name: String, _ operation: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let number = state.withLock { state in
            state.begun += 1
            state.running[state.begun] = name
            state.last = .now
            return state.begun
        }
        defer {
            state.withLock { state in
                state.running[number] = nil
                state.last = .now
            }
        }
        return try await operation()
    }
}
