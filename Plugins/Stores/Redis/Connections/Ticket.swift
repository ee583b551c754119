internal import NIOCore
internal import Synchronization

/// An operation that waits for its turn and then for its answer; it is answered once.
final class Ticket: Sendable {
    typealias Answer = Result<RedisReply, RedisStoreError>

    let command: Command
    let bytes: Int
    let deadline: NIODeadline
    /// Whether a server that imports the slot shall carry it out (`ASKING`).
    let isAsking: Bool
    private let waiter: Mutex<CheckedContinuation<Answer, Never>?>
    private let sendsText = Atomic(false)

    init(
        _ command: Command, deadline: NIODeadline, isAsking: Bool, _ waiter: CheckedContinuation<Answer, Never>
    ) {
        self.command = command
        self.bytes = command.bytes
        self.deadline = deadline
        self.isAsking = isAsking
        self.waiter = Mutex(waiter)
    }

    func settle(_ answer: Answer) {
        let waiter = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiter?.resume(returning: answer)
    }

    var isSettled: Bool { waiter.withLock { $0 == nil } }

    /// Has the script's text sent instead of its digest.
    ///
    /// Returns false when that is so already.
    func sendText() -> Bool { !sendsText.exchange(true, ordering: .relaxed) }

    var usesText: Bool { sendsText.load(ordering: .relaxed) }
}
