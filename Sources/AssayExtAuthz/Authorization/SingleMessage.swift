internal import AssayKit
internal import GRPCCore
internal import Synchronization

/// The one message of a call, waited for no longer than it may take.
enum SingleMessage {
    /// - Throws: `RPCError` when it does not come in time, when it is none, or when there are several.
    static func of<Message: Sendable>(
        _ request: StreamingServerRequest<Message>, within limit: Duration, clock: HostClock
    ) async throws -> Message {
        try await withThrowingTaskGroup(of: Message.self) { group in
            defer { group.cancelAll() }
            let hasEnded = Atomic(false)
            // Mostly it is there already, and no alarm is needed.
            group.addImmediateTask {
                defer { hasEnded.store(true, ordering: .relaxed) }
                return try await ServerRequest(stream: request).message
            }
            if !hasEnded.load(ordering: .relaxed) {
                group.addTask {
                    try await clock.sleep(for: limit)
                    throw RPCError(code: .deadlineExceeded, message: "The message did not come in time.")
                }
            }
            guard let message = try await group.next() else { throw CancellationError() }
            return message
        }
    }
}
