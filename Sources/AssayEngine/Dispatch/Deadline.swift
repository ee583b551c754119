internal import AssayKit

/// Bounds the time that a decision may take.
enum Deadline {
    /// Runs an operation, and cancels it when it has taken longer than `limit`.
    ///
    /// - Throws: what the operation throws; ``DeadlineExceeded`` when its time is up. An operation that ignores
    ///   cancellation is waited for all the same: nothing is left running behind the caller's back.
    static func run<Value: Sendable>(
        _ limit: Duration, clock: HostClock, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await clock.sleep(for: limit)
                throw DeadlineExceeded()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}

/// A decision took longer than it may.
struct DeadlineExceeded: Error, CustomStringConvertible {
    var description: String { "the decision took too long" }
}
