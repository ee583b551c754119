internal import AssayCore
public import AssayKit

/// The behaviour of an engine that policies do not set.
public struct EngineOptions: Sendable {
    /// The time limit of a decision.
    ///
    /// After it, the work of a plugin or a store is cancelled; the engine waits for work that ignores cancellation.
    public var timeLimit: Duration
    /// Tells why the engine must not decide now, in words for an operator; returns nil when it may.
    ///
    /// While there is a reason, every call and every request to `Engine.protect(_:)` is unavailable; for example,
    /// because decisions must be recorded and records cannot be written. The key set is still served.
    public var blockingReason: (@Sendable () -> String?)?
    /// Whether policies with settings for development are refused, at the start and at each reload.
    ///
    /// Such settings are a provider for development (`PluginDescriptor.isForDevelopment`), what plugins declare
    /// about their keys (`PolicyKey.Development`), and `accept_development: true`.
    public var refusesDevelopment: Bool
    /// Where evidence is kept that the section `capture` of the policies asks for; nil for nowhere.
    public var evidence: (any EvidenceSink)?
    /// The records of decisions that callers with the permission `decisions.read` may look up; nil for none.
    public var archive: (any DecisionArchive)?

    /// By default, a decision may take 10 seconds, nothing blocks decisions, and policies for development are accepted.
    public init(
        timeLimit: Duration = .seconds(10), blockingReason: (@Sendable () -> String?)? = nil,
        refusesDevelopment: Bool = false, evidence: (any EvidenceSink)? = nil, archive: (any DecisionArchive)? = nil
    ) {
        self.archive = archive
        self.timeLimit = timeLimit
        self.blockingReason = blockingReason
        self.refusesDevelopment = refusesDevelopment
        self.evidence = evidence
    }
}
