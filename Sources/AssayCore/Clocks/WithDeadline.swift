internal import Synchronization

/// Runs an operation, and cancels it when it has taken longer than a limit.
///
/// The operation starts at once, on the caller's thread. The timer is started when the operation first waits: one that
/// never waits costs no timer, and is not interrupted. An operation that ignores cancellation is waited for: nothing is
/// left running after the call.
///
/// - Parameter exceeded: The error that is thrown when the time is up.
/// - Throws: What the operation throws, or `exceeded`.
package func withDeadline<Value: Sendable>(
    _ limit: Duration, clock: HostClock, exceeded: any Error,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        defer { group.cancelAll() }
        let hasEnded = Atomic(false)
        group.addImmediateTask {
            defer { hasEnded.store(true, ordering: .relaxed) }
            return try await operation()
        }
        if !hasEnded.load(ordering: .relaxed) {
            group.addTask {
                try await clock.sleep(for: limit)
                throw exceeded
            }
        }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
