public import AssayEngine
public import AssayKit
public import AssayPolicy
internal import Logging

extension ReloadSubject {
    /// The policies of a folder, read, checked and put in force as a whole. What they refer to, such as the secrets in
    /// files, is read again with them.
    ///
    /// - Parameters:
    ///   - loaded: the folder's fingerprint from before the engine's present policies were read.
    ///   - then: is given the policies that are in force from now on.
    public static func policies(
        in directory: PolicyDirectory, for engine: Engine, loaded: FileFingerprint? = nil,
        then: @escaping @Sendable (PolicySet) -> Void = { _ in }
    ) -> ReloadSubject {
        ReloadSubject("policies", fingerprint: { directory.fingerprint }, loaded: loaded) {
            let policies = directory.read()
            try engine.replacePolicies(policies)
            then(policies)
            let counts = policies.counts
            return ["apps": "\(counts.apps)", "oauth_clients": "\(counts.oauthClients)"]
        }
    }
}
