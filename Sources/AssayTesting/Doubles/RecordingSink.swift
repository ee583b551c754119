public import AssayCore
public import AssayHosting
public import AssayKit
internal import Synchronization

/// Keeps the records of decisions for a test to look at.
public final class RecordingSink: DecisionSink {
    private let kept = Mutex<[DecisionRecord]>([])

    /// A sink without records.
    public init() {}

    /// Adds a record to the earlier ones.
    public func record(_ record: DecisionRecord) {
        kept.withLock { $0.append(record) }
    }

    /// The records so far, in the order of their arrival.
    public var records: [DecisionRecord] { kept.withLock { $0 } }

    /// The record of a decision.
    public func record(of decision: DecisionID) -> DecisionRecord? {
        records.first { $0.decision == decision }
    }
}

/// Tokens for a consumer that is tried without a kernel: nothing can be signed, and no token is known.
public struct NoTokens: ConsumerTokens {
    /// Tokens without keys.
    public init() {}

    /// Throws a `CallFailure` with `UNAVAILABLE`.
    public func sign(type: String, claims: JSON) throws -> String {
        throw CallFailure(.unavailable, "There is no key.")
    }

    /// Knows no token.
    public func own(_ token: String) -> OwnToken? { nil }

    /// Throws a `CallFailure` with `UNAVAILABLE`.
    public func inspect(_ token: String, _ demand: TokenDemand) async throws -> TokenFinding {
        throw CallFailure(.unavailable, "There are no keys.")
    }

    /// Throws a `CallFailure` with `UNAVAILABLE`.
    public func look(at token: String, _ demand: TokenDemand) async throws -> TokenFinding {
        try await inspect(token, demand)
    }
}
