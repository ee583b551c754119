public import AssayCore

/// A change of the service itself that belongs on record beside its decisions: other policies, other keys, an entry of the
/// deny list.
public struct AuditEvent: Sendable {
    /// The kind of a change; records keep its text.
    @nonexhaustive public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A server began to decide.
        case started = "server_started"
        /// Other policies are in force.
        case policiesChanged = "policies_changed"
        /// Changed policies were refused; those in force stay.
        case policiesRefused = "policies_refused"
        /// Keys were made, prepared, activated, retired or removed.
        case keysChanged = "keys_changed"
        /// An entry of the deny list was added or changed.
        case denyAdded = "deny_added"
        /// An entry of the deny list was removed.
        case denyRemoved = "deny_removed"
        /// A rotated audit file is removed by the keeping rule.
        case auditRemoved = "audit_removed"
        /// The audit file was removed, truncated or replaced while it was written to.
        case auditInterrupted = "audit_interrupted"
    }

    /// When it happened.
    public let time: Instant
    /// What happened.
    public let kind: Kind
    /// The policy's name of the caller that asked for it; nil when the service noticed it itself.
    public let caller: String?
    /// The policies in force from then on; nil where that is not known.
    public let revision: PolicyRevision?
    /// What changed, by names in lower case with underscores; no secrets.
    public let details: [JSONMember]

    /// Makes an event.
    public init(
        time: Instant, kind: Kind, caller: String? = nil, revision: PolicyRevision? = nil, details: [JSONMember] = []
    ) {
        self.time = time
        self.kind = kind
        self.caller = caller
        self.revision = revision
        self.details = details
    }
}
