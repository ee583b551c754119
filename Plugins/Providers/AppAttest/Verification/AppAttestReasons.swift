public import AssayKit

/// Every reason for which App Attest evidence is refused; each is one check that failed.
public enum AppAttestReasons {
    /// All reasons, as the provider's descriptor lists them.
    public static let all: [Reason] =
        encoding + authenticatorData + certificates + assertions + receipts + policy
}
