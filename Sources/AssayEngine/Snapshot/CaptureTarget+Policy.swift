internal import AssayCore
internal import AssayCrypto
internal import AssayPolicy
internal import AssayYAML

extension CaptureTarget {
    /// The target of a policy's section.
    ///
    /// - Returns: nil without the section.
    /// - Throws: why the key cannot be read.
    init?(_ policy: CapturePolicy?, _ secrets: SecretSource) throws(Diagnostics) {
        guard let policy else { return nil }
        do throws(Diagnostics) {
            guard let recipient = try policy.recipient(secrets) else { return nil }
            self.recipient = recipient
        } catch {
            // A check without secrets reads no file, and so does not know the key.
            if secrets.withheld != nil, error.all.allSatisfy({ WithheldSecrets.isNamed(in: $0.message) }) { return nil }
            throw error
        }
        limits = policy.limits
    }
}
