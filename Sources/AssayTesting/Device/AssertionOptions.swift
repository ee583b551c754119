public import AssayCBOR

/// How an assertion is bent: one change at each stage of its making, in this order; what comes later builds on it.
public struct AssertionOptions: Sendable {
    /// Before it is signed.
    public var authenticatorData: @Sendable (inout SimulatedAuthenticatorData) -> Void = { _ in }
    /// What ECDSA with SHA-256 signs: SHA-256 of authenticator data and client data hash.
    public var message: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// The signature in DER.
    public var signature: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// The assertion: `signature` and `authenticatorData`.
    public var object: @Sendable (inout [CBORPair]) -> Void = { _ in }
    /// The encoded assertion.
    public var encoded: @Sendable (inout [UInt8]) -> Void = { _ in }

    /// What a genuine device does.
    public init() {}
}
