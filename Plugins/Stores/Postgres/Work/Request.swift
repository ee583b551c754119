internal import AssayCore
internal import Synchronization

/// One statement for which a caller waits.
struct Request: Sendable {
    enum Kind: Sendable {
        /// Has no effect, and may be sent twice.
        case read
        /// Can share a transaction with other writes.
        case write
    }

    let kind: Kind
    let step: Step
    /// The first row that it locks; nil for those that lock none, or others than one row.
    let order: LockOrder?
    /// When its caller is told that it took too long.
    let deadline: ContinuousClock.Instant
    let reply: Reply
    /// The bytes that it keeps in memory, roughly.
    let bytes: Int
    /// How often it was sent in vain.
    var failures = 0
    /// Whether it has a transaction of its own, because one that it shared was rolled back.
    var isAlone: Bool

    init(_ kind: Kind, _ step: Step, order: LockOrder?, timeout: Duration, reply: Reply) {
        self.kind = kind
        self.step = step
        self.order = order
        self.reply = reply
        isAlone = order == nil
        deadline = .now + timeout
        bytes = step.parameters.reduce(256) { $0 + ($1.encoded?.count ?? 0) }
    }
}

/// The one answer to a caller.
final class Reply: Sendable {
    private let continuation: CheckedContinuation<Result<Table, PostgresStoreError>, Never>
    private let isGiven = Atomic(false)

    init(_ continuation: CheckedContinuation<Result<Table, PostgresStoreError>, Never>) {
        self.continuation = continuation
    }

    /// Returns false, and does nothing, if the caller has an answer already.
    func give(_ result: Result<Table, PostgresStoreError>) -> Bool {
        guard !isGiven.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        continuation.resume(returning: result)
        return true
    }
}
