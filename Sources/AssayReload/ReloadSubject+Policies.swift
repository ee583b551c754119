public import AssayCore
public import AssayEngine
public import AssayPolicy
internal import Logging
internal import Synchronization

extension ReloadSubject {
    /// The policies of a folder, read, checked and put in force as a whole.
    ///
    /// What they refer to, such as the secrets in files, is read again with them.
    ///
    /// Policies that say less than those in force are put in force, and the log says what there is less of. Policies without
    /// any app or OAuth client do not take the place of some that have one: a missing file is more probable than such a wish.
    ///
    /// - Parameters:
    ///   - loaded: the folder's fingerprint from before the engine's present policies were read.
    ///   - present: the policies that are in force now; nil when that is not known.
    ///   - then: is given the policies that are in force from now on.
    public static func policies(
        in directory: PolicyDirectory, for engine: Engine, loaded: FileFingerprint? = nil, present: PolicySet? = nil,
        then: @escaping @Sendable (PolicySet) -> Void = { _ in }
    ) -> ReloadSubject {
        let last = PresentExtent(present)
        return ReloadSubject("policies", fingerprint: { directory.fingerprint }, loaded: loaded) {
            let policies = directory.read()
            let extent = PolicyExtent(policies)
            if policies.problems == nil, !extent.servesAnybody, last.value?.servesAnybody ?? false {
                throw NobodyServed()
            }
            try engine.replacePolicies(policies)
            then(policies)
            let counts = policies.counts
            var metadata: Logger.Metadata = ["apps": "\(counts.apps)", "oauth_clients": "\(counts.oauthClients)"]
            let losses = last.replace(by: extent).map { extent.losses(since: $0) } ?? []
            if !losses.isEmpty { metadata["fewer"] = "\(losses.joined(separator: ", "))" }
            return metadata
        }
    }
}

/// Why valid policies are not taken up.
private struct NobodyServed: Error, CustomStringConvertible {
    var description: String {
        "no policy defines an app or an OAuth client any more; restart to serve none"
    }
}

/// How much the policies in force say.
private final class PresentExtent: Sendable {
    private let state: Mutex<PolicyExtent?>

    init(_ policies: PolicySet?) {
        state = Mutex(policies.map { PolicyExtent($0) })
    }

    var value: PolicyExtent? { state.withLock { $0 } }

    /// Returns the one before.
    func replace(by extent: PolicyExtent) -> PolicyExtent? {
        state.withLock { state in
            defer { state = extent }
            return state
        }
    }
}

extension ReloadSubject {
    /// The keys of a service; policies and instances of plugins stay as they are.
    public static func keys(in store: KeyStore, for engine: Engine) -> ReloadSubject {
        ReloadSubject("keys", fingerprint: { FileFingerprint(of: store.files) }) {
            // The engine says itself which keys it took up.
            try engine.reloadKeys() ? [:] : nil
        }
    }
}
