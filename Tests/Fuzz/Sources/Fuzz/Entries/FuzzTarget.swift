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
    /// A form, as OAuth's endpoints take it, in a whole request.
    case form
    /// What a client sends over a connection of HTTP/2, from its preface on.
    case http2
    /// A message that Envoy asks with whether a request may pass.
    case check
    /// A request target: what the routes make of it, and what a backend's rules for paths do.
    case path
    /// A JWKS document of an issuer.
    case jwks
    /// A user's JWT: its header in the first line, its claims in the others; both are then signed by the issuer.
    case actorToken = "actor-token"
    /// The three header fields of a request's proof, a line each.
    case requestProof = "request-proof"
    /// What an Android device says of a key, the value of an extension, which is then put into a certificate and signed.
    case androidDescription = "android-description"
    /// The certificates of an Android key, one after the other.
    case androidChain = "android-chain"
    /// A classic token of Play Integrity.
    case playToken = "play-token"
    /// The header of such a token in the first line, and the key of its content in the others; the token is then encrypted.
    case playHeader = "play-header"
    /// The content of such a token, a signed text, which is then encrypted.
    case playContent = "play-content"
    /// What such a token says, which is then signed and encrypted.
    case playVerdict = "play-verdict"

    /// Judges an input, and checks on the way what must hold of every input.
    ///
    /// - Throws: ``BrokenPromise`` when something does not hold, or when the scene of the target cannot be set.
    public func judge(_ input: [UInt8]) async throws -> FuzzVerdict {
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
        case .form: try await judgeForm(input)
        case .http2: try await judgeHTTP2(input)
        case .check: try await judgeCheck(input)
        case .path: try await judgePath(input)
        case .jwks: try await judgeJWKS(input)
        case .actorToken: try await judgeActorToken(input)
        case .requestProof: try judgeRequestProof(input)
        case .androidDescription: try judgeAndroidDescription(input)
        case .androidChain: try judgeAndroidChain(input)
        case .playToken: try judgePlayToken(input)
        case .playHeader: try judgePlayHeader(input)
        case .playContent: try judgePlayContent(input)
        case .playVerdict: try judgePlayVerdict(input)
        }
    }
}
