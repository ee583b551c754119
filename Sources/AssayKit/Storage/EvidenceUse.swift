public import AssayCore

/// What good evidence uses up, so that it cannot be used again: a change of the state, and what it means if the change
/// cannot be made.
///
/// A provider returns its uses with its appraisal. The kernel makes all of them in one atomic step, together with its own
/// for the challenge; if one cannot be made, none is, and the evidence is refused.
public struct EvidenceUse: Sendable {
    /// The change, of a namespace of the provider.
    public let change: StateChange
    /// The reason of the refusal if the change cannot be made: one that the provider's descriptor lists.
    public let reason: Reason
    /// What the record of that refusal says in addition, for operators; no secret.
    @Exact public private(set) var detail: String?

    /// Makes a use from a change and what it means if the change cannot be made.
    public init(_ change: StateChange, otherwise reason: Reason, detail: String? = nil) {
        self.change = change
        self.reason = reason
        self.detail = detail
    }
}
