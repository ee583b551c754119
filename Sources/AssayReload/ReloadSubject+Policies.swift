public import AssayCore
public import AssayEngine
public import AssayPolicy
internal import Logging
internal import Synchronization

extension ReloadSubject {
    /// The policies of a folder, which are read, checked and put in force as a whole.
    ///
    /// Secrets and other files that they refer to are read again with them.
    ///
    /// Policies with fewer settings than those in force are applied, and the log says what is missing. Policies without
    /// any app or OAuth client do not replace policies that have one: a missing file is more probable than such an
    /// intention.
    ///
    /// - `loaded`: the folder's fingerprint from before the engine's present policies were read.
    /// - `present`: the policies that are in force now; nil when unknown.
    /// - `then`: receives the policies that are in force from now on.
    public static func policies(
        in directory: PolicyDirectory, for engine: Engine, loaded: FileFingerprint? = nil, present: PolicySet? = nil,
        then: @escaping @Sendable (PolicySet) -> Void = { _ in }
    ) -> ReloadSubject {
        let last = PresentExtent(present)
        return ReloadSubject("policies", fingerprint: { directory.fingerprint }, loaded: loaded) {
            let policies = directory.read()
            let extent = PolicyExtent(policies)
            if policies.problems == nil, !extent.servesApps, last.value?.servesApps ?? false {
                throw NoAppsServed()
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

/// The reason why valid policies are not applied.
private struct NoAppsServed: Error, CustomStringConvertible {
    var description: String {
        "no policy defines an app or an OAuth client any more; to serve without any, restart"
    }
}

/// The extent of the policies in force.
private final class PresentExtent: Sendable {
    private let state: Mutex<PolicyExtent?>

    init(_ policies: PolicySet?) {
        state = Mutex(policies.map { PolicyExtent($0) })
    }

    var value: PolicyExtent? { state.withLock { $0 } }

    /// Returns the previous one.
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
            // The engine logs which keys it loaded.
            try engine.reloadKeys() ? [:] : nil
        }
    }
}
