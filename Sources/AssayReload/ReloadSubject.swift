public import AssayCore
public import Logging

/// Something that a running service can read again: policies, keys, a file that is written to.
public struct ReloadSubject: Sendable {
    /// What it is called in the log and in the reason of a degraded service: `policies`.
    public let name: String
    let action: ReloadAction
    let fingerprint: (@Sendable () -> FileFingerprint)?
    let loaded: FileFingerprint?
    let reload: @Sendable () throws -> Logger.Metadata?

    /// - Parameters:
    ///   - action: what is done to it, as the log says it.
    ///   - fingerprint: the state of the files that it is read from, by which changes are seen; nil for what is reloaded on
    ///     request only.
    ///   - loaded: the fingerprint just before the service read what is in force now, so that a change since then is seen
    ///     too; the present one when nil.
    ///   - reload: reads it again, and puts it in force whole or not at all. It may take its time and may block: it has a
    ///     thread to itself. Returns what the log should say of it; nil when nothing had changed. When it throws, what is
    ///     in force stays.
    public init(
        _ name: String, action: ReloadAction = .reload, fingerprint: (@Sendable () -> FileFingerprint)? = nil,
        loaded: FileFingerprint? = nil,
        reload: @escaping @Sendable () throws -> Logger.Metadata?
    ) {
        self.name = name
        self.action = action
        self.fingerprint = fingerprint
        self.loaded = loaded ?? fingerprint?()
        self.reload = reload
    }
}

/// What is done to a subject.
public enum ReloadAction: Sendable, Hashable {
    /// It is read again.
    case reload
    /// It is written to, and opened anew under its name: nothing is read.
    case reopen

    /// As the log says that it was done.
    var past: String {
        switch self {
        case .reload: "reloaded"
        case .reopen: "reopened"
        }
    }
}

/// What came of one attempt to reload a subject.
public enum ReloadOutcome: Sendable, Hashable {
    case reloaded
    /// Nothing had changed.
    case unchanged
    /// What is in force stays.
    case failed
}
