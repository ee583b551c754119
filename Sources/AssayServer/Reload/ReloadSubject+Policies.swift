public import AssayCore
public import AssayEngine
public import AssayPolicy
public import AssayServices
internal import Logging
internal import Synchronization

extension ReloadSubject {
    /// The policies of a folder or a signed bundle, which are read, checked and put in force as a whole.
    ///
    /// Secrets and other files that they refer to are read again with them. Files that were only touched, so that they say the same as
    /// those in force, change nothing; a request reads them again anyway.
    ///
    /// Files that change while they are read are read again, and then refused: what was read may be a part of the old ones and a part of
    /// the new ones.
    ///
    /// Policies with fewer settings than those in force are applied, and the log says what is missing. Policies without
    /// any app or OAuth client do not replace policies that have one: a missing file is more probable than such an
    /// intention.
    ///
    /// - `source`: a `PolicyDirectory`, or a ``PolicyBundleSource``.
    /// - `loaded`: the fingerprint of the source from before the engine's present policies were read.
    /// - `present`: the policies that are in force now, with which the engine was made. Without them, the first reload does not
    ///   know what it replaces: it also applies policies without any app, nothing says what is missing, and `then` receives
    ///   nil. What is said above then begins with the second reload.
    /// - `then`: receives the policies that are in force from now on, and those before them if they are known.
    /// - `refused`: receives the revision of policies that were refused, and why, once for each reason.
    public static func policies(
        in source: some PolicySource, for engine: Engine, loaded: FileFingerprint? = nil, present: PolicySet? = nil,
        then: @escaping @Sendable (_ policies: PolicySet, _ before: PolicySet?) -> Void = { _, _ in },
        refused: @escaping @Sendable (PolicyRevision, any Error) -> Void = { _, _ in }
    ) -> ReloadSubject {
        let last = PresentPolicies(present)
        return ReloadSubject("policies", fingerprint: { source.fingerprint }, loaded: loaded) { cause in
            let policies = try Self.read(source)
            if cause == .change, policies.problems == nil, policies.revision == engine.revision,
                !last.hasFailed(with: policies.revision)
            {
                last.failureIsOver()
                source.didTakeEffect()
                return nil
            }
            let counts = PolicyCounts(policies)
            do {
                if policies.problems == nil, !counts.servesApps, last.counts?.servesApps ?? false {
                    throw NoAppsServed()
                }
                try engine.replacePolicies(policies)
            } catch {
                if last.fails(with: policies.revision, "\(error)") { refused(policies.revision, error) }
                throw error
            }
            source.didTakeEffect()
            let before = last.replace(by: policies, counts)
            then(policies, before?.policies)
            let (apps, clients) = policies.counts
            var metadata: Logger.Metadata = [
                "apps": "\(apps)", "oauth_clients": "\(clients)", "revision": "\(policies.revision)",
            ]
            let losses = before.map { counts.losses(since: $0.counts) } ?? []
            if !losses.isEmpty { metadata["fewer"] = "\(losses.joined(separator: ", "))" }
            return metadata
        }
    }
}

/// The reason why valid policies are not applied.
private struct NoAppsServed: Error, CustomStringConvertible {
    var description: String {
        "no policy defines an app or an OAuth client any more; to serve without any, restart"
    }
}

/// The reason why policies are not read.
private struct FilesKeepChanging: Error, CustomStringConvertible {
    var description: String { "the files change while they are read" }
}

/// The policies in force, and why the last attempt to replace them failed.
private final class PresentPolicies: Sendable {
    struct Present {
        let policies: PolicySet
        let counts: PolicyCounts
    }

    private let state: Mutex<(present: Present?, failure: (revision: PolicyRevision, text: String)?)>

    init(_ policies: PolicySet?) {
        state = Mutex((policies.map { Present(policies: $0, counts: PolicyCounts($0)) }, nil))
    }

    var counts: PolicyCounts? { state.withLock { $0.present?.counts } }

    /// Whether the last attempt failed with files of a revision: then the files are not why.
    func hasFailed(with revision: PolicyRevision) -> Bool { state.withLock { $0.failure?.revision == revision } }

    /// Takes note that the files are those in force again.
    func failureIsOver() { state.withLock { $0.failure = nil } }

    /// Takes note of a failure; returns whether it is another one than the last time.
    func fails(with revision: PolicyRevision, _ text: String) -> Bool {
        state.withLock { state in
            defer { state.failure = (revision, text) }
            return !(state.failure?.text).isExactly(text)
        }
    }

    /// Returns the previous ones.
    func replace(by policies: PolicySet, _ counts: PolicyCounts) -> Present? {
        state.withLock { state in
            defer { state = (Present(policies: policies, counts: counts), nil) }
            return state.present
        }
    }
}

extension ReloadSubject {
    private static let attempts = 3

    /// Reads policies from files that did not change meanwhile.
    private static func read(_ source: some PolicySource) throws -> PolicySet {
        for _ in 0..<attempts {
            let before = source.fingerprint
            let policies = source.read()
            if source.fingerprint == before { return policies }
        }
        throw FilesKeepChanging()
    }

    /// The keys of a service; policies and instances of plugins stay as they are.
    public static func keys(in store: KeyStore, for engine: Engine) -> ReloadSubject {
        ReloadSubject("keys", fingerprint: { FileFingerprint(of: store.files) }) {
            // The engine logs which keys it loaded.
            try engine.reloadKeys() ? [:] : nil
        }
    }
}
