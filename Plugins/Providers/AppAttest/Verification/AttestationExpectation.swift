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

    public init(
        appID: AppAttestAppID, keyID: [UInt8], clientDataHash: [UInt8], environments: Set<AppAttestEnvironment>
    ) {
        self.appID = appID
        self.keyID = keyID
        self.clientDataHash = clientDataHash
        self.environments = environments
    }
}
