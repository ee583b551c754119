public import AssayCore
public import AssayCrypto
public import AssayKit
public import AssayPolicy

/// Where an engine puts the evidence that its policies capture: `EvidenceFolder` of `AssayServices` keeps it in files.
public protocol EvidenceSink: Sendable {
    /// Takes evidence, or leaves it out when too much comes.
    ///
    /// It is called while a client waits: it must neither wait nor encrypt.
    ///
    /// - Parameters:
    ///   - app: whose evidence it is, so that no app's flood hides the evidence of another.
    ///   - peer: the caller's address.
    ///   - target: whom it is encrypted for, and within which limits it is kept.
    ///   - evidence: makes it; called at most once.
    func add(of app: ExactText, peer: String?, _ target: CaptureTarget, _ evidence: () -> CapturedEvidence)

    /// Deletes what the limits allow no longer.
    func tidy(_ limits: CaptureLimits)
}

/// The section `capture` of policies in force, with its key.
public struct CaptureTarget: Sendable {
    /// Whom evidence is encrypted for.
    public let recipient: JWERecipient
    /// How much is kept, and for how long.
    public let limits: CaptureLimits
}
