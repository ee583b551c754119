public import AssayCore
public import AssayKit
internal import Synchronization

/// Keeps the records of decisions for a test to look at.
public final class RecordingSink: DecisionSink {
    private let kept = Mutex<[DecisionRecord]>([])
    private let changes = Mutex<[AuditEvent]>([])

    /// A sink without records.
    public init() {}

    /// Adds a record to the earlier ones.
    public func record(_ record: DecisionRecord) {
        kept.withLock { $0.append(record) }
    }

    /// Adds a change of the service itself.
    public func record(_ event: AuditEvent) {
        changes.withLock { $0.append(event) }
    }

    /// The changes of the service so far, in the order of their arrival.
    public var events: [AuditEvent] { changes.withLock { $0 } }

    /// The records so far, in the order of their arrival.
    public var records: [DecisionRecord] { kept.withLock { $0 } }

    /// The record of a decision.
    public func record(of decision: DecisionID) -> DecisionRecord? {
        records.first { $0.decision == decision }
    }
}
