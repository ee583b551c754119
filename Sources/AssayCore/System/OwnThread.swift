/// Work on a thread of its own, for what waits without giving its thread back.
package enum OwnThread {
    /// Runs `body` on a new thread, while the task waits.
    ///
    /// - Throws: what `body` throws; ``Unavailable`` when the system starts no more threads.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let result = FirstResult<Value>()
        guard WorkerThreads(count: 1, waiting: 1).start({ result.settle(Result { try body() }) }) else {
            throw Unavailable()
        }
        return try await result.value
    }

    /// The system starts no more threads.
    package struct Unavailable: Error, CustomStringConvertible {
        package var description: String { "the system starts no more threads" }
    }
}
