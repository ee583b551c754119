/// A reader of untrusted bytes, as a fuzzer and the tests of the corpora call it.
///
/// The raw value names the target's folder under `Corpora`.
public enum FuzzTarget: String, Sendable, CaseIterable {
    /// One CBOR item, in both profiles.
    case cbor
    /// An attestation object of App Attest, receipt included.
    case attestation
    /// An assertion of App Attest.
    case assertion
    /// Authenticator data, put into an assertion and an attestation that are then signed.
    case authenticatorData = "authenticator-data"
    /// What an attestation's leaf certificate says (its TBSCertificate), which is then signed.
    case leaf
    /// A receipt of App Attest.
    case receipt
    /// The fields of a receipt, which is then signed.
    case receiptFields = "receipt-fields"
    /// A token in its first line, and the JWKS document to verify it with in the others.
    case token
    /// The claims of a token, which is then signed.
    case claims
    /// A JSON text.
    case json
    /// A policy file, with the sections of the plugins App Attest and debug.
    case policy

    /// Judges an input, and checks on the way what must hold of every input.
    ///
    /// - Throws: ``BrokenPromise`` when something does not hold, or when the scene of the target cannot be set.
    public func judge(_ input: [UInt8]) throws -> FuzzVerdict {
        switch self {
        case .cbor: try judgeCBOR(input)
        case .attestation: try judgeAttestation(input)
        case .assertion: try judgeAssertion(input)
        case .authenticatorData: try judgeAuthenticatorData(input)
        case .leaf: try judgeLeaf(input)
        case .receipt: try judgeReceipt(input)
        case .receiptFields: try judgeReceiptFields(input)
        case .token: try judgeToken(input)
        case .claims: try judgeClaims(input)
        case .json: try judgeJSON(input)
        case .policy: try judgePolicy(input)
        }
    }
}
