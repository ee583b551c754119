public import AssayKit

/// What a receipt says: Apple's own record of an attested key (Apple, Assessing Fraud Risk).
///
/// One comes with each attestation; it can be exchanged at Apple's servers for a newer one, which carries a risk metric.
public struct Receipt: Sendable, Hashable {
    /// What the receipt was made for.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Made with an attestation.
        case attestation = "ATTEST"
        /// Made in exchange for another receipt.
        case exchange = "RECEIPT"
    }

    /// What the receipt was made for.
    public let kind: Kind
    /// The App ID of the app whose key it is about.
    @Exact public private(set) var appID: String
    /// The certificate of the attested key, in DER.
    public let certificate: [UInt8]
    /// For an attestation's receipt the client data hash; otherwise 54 bytes that Apple does not explain.
    public let clientHash: [UInt8]
    /// Apple's token, 88 Base 64 characters so far; nil where there is none.
    public let token: [UInt8]?
    /// The environment of the key; nil where the receipt does not name it.
    public let environment: AppAttestEnvironment?
    /// When the receipt was made.
    public let created: Instant
    /// From when on it can be exchanged; nil for at once.
    public let notBefore: Instant?
    /// Until when it can be exchanged.
    public let expires: Instant
    /// About how many keys the app attested on the device in the last 30 days; only in exchanged receipts.
    public let riskMetric: Int?
}
