/// What an assertion must agree with.
public struct AssertionExpectation: Sendable {
    /// The App ID that the key was attested for.
    public let appID: AppAttestAppID
    /// What the client gave to `generateAssertion(_:clientDataHash:)`, of any length; it should be a SHA-256.
    public let clientDataHash: [UInt8]
    /// The counter of the last assertion that was accepted, 0 for none: the new one must be above.
    public let previousCounter: UInt32

    public init(appID: AppAttestAppID, clientDataHash: [UInt8], previousCounter: UInt32) {
        self.appID = appID
        self.clientDataHash = clientDataHash
        self.previousCounter = previousCounter
    }
}
