package import AssayCore

/// Limits the time of a decision.
package enum Deadline {
    /// Runs an operation, and cancels it when it has taken longer than `limit`.
    ///
    /// The operation begins at once, on the caller's thread, and the timer is set when it waits for the first time: most
    /// decisions never wait, and a timer is expensive in comparison. An operation that never waits cannot be cancelled; if it
    /// takes too long, its result is not used.
    ///
    /// - Throws: the operation's error; ``DeadlineExceeded`` when its time is over. An operation that ignores
    ///   cancellation is waited for anyway: nothing continues running after the caller returns.
    package static func run<Value: Sendable>(
        _ limit: Duration, clock: HostClock, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let start = clock.uptime
        let value = try await withDeadline(limit, clock: clock, exceeded: DeadlineExceeded(), operation)
        guard clock.uptime - start < limit else { throw DeadlineExceeded() }
        return value
    }

    /// Runs an operation that never waits.
    ///
    /// A result that comes after `limit` is not used.
    ///
    /// - Throws: the operation's error; ``DeadlineExceeded``.
    package static func runAtOnce<Value>(
        _ limit: Duration, clock: HostClock, _ operation: () throws -> Value
    ) throws -> Value {
        let start = clock.uptime
        let value = try operation()
        guard clock.uptime - start < limit else { throw DeadlineExceeded() }
        return value
    }
}

/// A decision took longer than allowed.
package struct DeadlineExceeded: Error, CustomStringConvertible {
    package var description: String { "the decision took too long" }
}
