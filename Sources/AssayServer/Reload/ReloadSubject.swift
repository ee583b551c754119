public import AssayCore
public import Logging

/// Something that a running service can reload: policies, keys, a file that is written to.
public struct ReloadSubject: Sendable {
    /// Its name in the log and in the reason of a degraded service: `policies`.
    public let name: String
    let action: ReloadAction
    let fingerprint: (@Sendable () -> FileFingerprint)?
    let loaded: FileFingerprint?
    let reload: @Sendable (ReloadCause) throws -> Logger.Metadata?

    /// Makes a subject from the closures that read it.
    ///
    /// - `action`: the action, for the log.
    /// - `fingerprint`: the state of the files that it is read from, by which changes are seen; nil for what is reloaded on
    ///   request only.
    /// - `loaded`: the fingerprint just before the service read what is in force now, so that a change since then is seen
    ///   too; the present one when nil.
    /// - `reload`: reads it again, and puts it in force whole or not at all. It may take its time and may block: it has a
    ///   thread to itself. Returns what the log should say of it; nil when nothing had changed. When it throws, what is
    ///   in force stays.
    public init(
        _ name: String, action: ReloadAction = .reload, fingerprint: (@Sendable () -> FileFingerprint)? = nil,
        loaded: FileFingerprint? = nil,
        reload: @escaping @Sendable () throws -> Logger.Metadata?
    ) {
        self.init(name, action: action, fingerprint: fingerprint, loaded: loaded, reloadFor: { _ in try reload() })
    }

    /// Makes a subject that is told why it is read again.
    ///
    /// The parameters are those of ``init(_:action:fingerprint:loaded:reload:)``.
    public init(
        _ name: String, action: ReloadAction = .reload, fingerprint: (@Sendable () -> FileFingerprint)? = nil,
        loaded: FileFingerprint? = nil,
        reloadFor reload: @escaping @Sendable (ReloadCause) throws -> Logger.Metadata?
    ) {
        self.name = name
        self.action = action
        self.fingerprint = fingerprint
        self.loaded = loaded ?? fingerprint?()
        self.reload = reload
    }
}

/// Why a subject is read again.
@nonexhaustive public enum ReloadCause: Sendable, Hashable {
    /// An operator asked for it.
    case request
    /// Its files seem to have changed, or could not be read before.
    case change
}

/// What happens to a subject.
@nonexhaustive public enum ReloadAction: Sendable, Hashable {
    /// It is read again.
    case reload
    /// Its file, which is written to, is opened again under its name; nothing is read.
    case reopen

    /// The past tense, for the log.
    var past: String {
        switch self {
        case .reload: "reloaded"
        case .reopen: "reopened"
        }
    }
}

/// The outcome of one attempt to reload a subject.
@nonexhaustive public enum ReloadOutcome: Sendable, Hashable {
    case reloaded
    /// Nothing had changed.
    case unchanged
    /// The present one stays in force.
    case failed
}
