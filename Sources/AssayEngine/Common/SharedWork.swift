internal import Synchronization

/// Work that the first caller begins, and that all others with the same key wait for.
///
/// It continues when its callers are cancelled, so that none of them fails because of another; it must end by itself.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let running = Mutex<[Key: Task<Value, any Error>]>([:])

    /// The result of the work that runs, or of `work` if none does.
    func value(
        for key: Key, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = running.withLock { running in
            if let task = running[key] { return task }
            let task = Task {
                defer { end(key) }
                return try await work()
            }
            running[key] = task
            return task
        }
        return try await task.value
    }

    private func end(_ key: Key) {
        running.withLock { _ = $0.removeValue(forKey: key) }
    }
}
