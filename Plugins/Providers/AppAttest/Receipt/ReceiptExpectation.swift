internal import AssayCore

/// What a receipt must agree with.
public struct ReceiptExpectation: Sendable {
    /// An attestation that the receipt came with.
    struct Attestation: Sendable {
        let leaf: ArraySlice<UInt8>
        let leafNotBefore: Instant
        let leafNotAfter: Instant
        let clientDataHash: [UInt8]
        let environment: AppAttestEnvironment
    }

    /// The App ID that the receipt must be for.
    let appID: AppAttestAppID
    /// The public key that the receipt must be for; nil for any.
    let publicKey: [UInt8]?
    /// The environment that the receipt must be from; nil for any.
    let environment: AppAttestEnvironment?
    /// How long ago the receipt may have been made; nil for any time.
    let maximumAge: Duration?
    /// The attestation that the receipt came with.
    let attestation: Attestation?

    /// What a single receipt must agree with, such as Apple's answer to an exchange.
    ///
    /// - `publicKey`: The attested key in the form `04 ‖ X ‖ Y`.
    /// - `maximumAge`: Apple asks for five minutes for a new receipt; nil for a stored one.
    public init(
        appID: AppAttestAppID, publicKey: [UInt8]? = nil, environment: AppAttestEnvironment? = nil,
        maximumAge: Duration? = nil
    ) {
        self.appID = appID
        self.publicKey = publicKey
        self.environment = environment
        self.maximumAge = maximumAge
        attestation = nil
    }

    /// What the receipt in an attestation must agree with.
    init(appID: AppAttestAppID, attestation: Attestation, maximumAge: Duration?) {
        self.appID = appID
        publicKey = nil
        environment = attestation.environment
        self.maximumAge = maximumAge
        self.attestation = attestation
    }
}

/// The result of verifying a receipt.
public enum ReceiptOutcome: Sendable, Hashable {
    /// Apple signed the receipt, and it agrees with what was expected.
    case verified(Receipt)
    /// Apple signed the content, with the error of receipts made before 2020-10-15; everything else is correct.
    ///
    /// Such a message has signed attributes, and a signature that does not cover them.
    case legacy2020(Receipt)
    /// The receipt is invalid.
    case refused(AppAttestRefusal)

    /// The receipt, where Apple signed it either way.
    public var receipt: Receipt? {
        switch self {
        case .verified(let receipt), .legacy2020(let receipt): receipt
        case .refused: nil
        }
    }
}
