public import AssayKit

/// What an attestation proved: Apple certified this key, made for this app, on a genuine device.
public struct VerifiedAttestation: Sendable, Hashable {
    /// The attested key in the form `04 ‖ X ‖ Y` on P-256: what assertions are verified with.
    public let publicKey: [UInt8]
    /// SHA-256 of the public key.
    public let keyID: [UInt8]
    /// The environment that the key is from.
    public let environment: AppAttestEnvironment
    /// The operating system, as Apple's certificate names it.
    public let system: AttestedSystem
    /// How the system came to trust the app; nil before iOS 27 and macOS 27.
    public let validationCategory: ValidationCategory?
    /// The version of the app's bundle; nil before iOS 27 and macOS 27.
    @Exact public private(set) var bundleVersion: String?
    /// The digest of the app's code directory, on Macs whose app asks for it.
    public let codeDirectoryHash: [UInt8]?
    /// The kind of that digest; 2 is SHA-256.
    public let codeDirectoryHashType: UInt8?
    /// The App ID that the certificate repeats in an undocumented extension; nothing was judged by it.
    @Exact public private(set) var certifiedAppID: String?
    /// The flags of the authenticator data; nothing was judged by them.
    public let flags: UInt8
    /// The counter of the authenticator data, which is 0 in attestations.
    public let counter: UInt32
    /// The validity of the leaf.
    public let notBefore: Instant
    /// The last instant of the validity of the leaf.
    public let notAfter: Instant
    /// The receipt as it came, to be kept for exchanges.
    public let receiptBytes: [UInt8]
    /// What came of verifying the receipt; nil where it was not looked at.
    public let receipt: ReceiptOutcome?
}
