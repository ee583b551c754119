public import AssayCore

/// What an attestation must agree with.
public struct AttestationExpectation: Sendable {
    /// The App ID that the key must be for.
    public let appID: AppAttestAppID
    /// The key identifier that the client sent, decoded: SHA-256 of the key's point, 32 bytes.
    public let keyID: [UInt8]
    /// What the client gave to `attestKey(_:clientDataHash:)`, of any length.
    ///
    /// It should be the SHA-256 of a challenge; Apple's own samples use a challenge itself.
    public let clientDataHash: [UInt8]
    /// The environments that the key may be from.
    public let environments: Set<AppAttestEnvironment>

    /// States what an attestation must agree with.
    public init(
        appID: AppAttestAppID, keyID: [UInt8], clientDataHash: [UInt8], environments: Set<AppAttestEnvironment>
    ) {
        self.appID = appID
        self.keyID = keyID
        self.clientDataHash = clientDataHash
        self.environments = environments
    }
}

/// The requirement on the receipt in an attestation.
public enum ReceiptRequirement: Sendable {
    /// The receipt is passed on as it is; it costs nothing, and says nothing.
    case unchecked
    /// The receipt is verified and its outcome reported, also when it is missing; it does not decide about the attestation.
    case recorded(ReceiptVerifier, maximumAge: Duration? = nil)
    /// The receipt must be there, be good, and agree with the attestation.
    ///
    /// - `maximumAge`: How long ago it may have been made; Apple asks for five minutes.
    /// - `acceptsLegacy`: Whether the faulty signatures of 2020 are accepted; they are valid for old data only.
    case required(ReceiptVerifier, maximumAge: Duration? = nil, acceptsLegacy: Bool = false)
}

extension ReceiptRequirement {
    /// The verifier of the receipt; nil if it is not verified.
    var verifier: ReceiptVerifier? {
        switch self {
        case .unchecked: nil
        case .recorded(let verifier, _), .required(let verifier, _, _): verifier
        }
    }

    var maximumAge: Duration? {
        switch self {
        case .unchecked: nil
        case .recorded(_, let maximumAge), .required(_, let maximumAge, _): maximumAge
        }
    }

    /// Whether the faulty signatures of 2020 are refused.
    var refusesLegacy: Bool {
        if case .required(_, _, let acceptsLegacy) = self { !acceptsLegacy } else { false }
    }
}

/// The outcome of verifying an attestation.
public enum AttestationOutcome: Sendable, Hashable {
    /// The attestation is genuine and agrees with what was expected.
    case verified(VerifiedAttestation)
    /// The attestation is refused.
    case refused(AppAttestRefusal)
}

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
    /// The digest of the app's code directory, on Macs if the app requests it.
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
    /// The receipt as it came, to be kept for exchanges; nil when the attestation has none.
    public let receiptBytes: [UInt8]?
    /// The outcome of verifying the receipt; nil if it was not checked.
    public let receipt: ReceiptOutcome?
    /// Members of the attestation that this version passed over.
    let unknownMembers: UnknownMembers
}
