public import AssayCBOR

/// How an attestation is bent: one change at each stage of its making, in this order; what comes later builds on it.
///
/// A change to authenticator data, for instance, shows in the nonce of the leaf, so that nothing but the changed part
/// is wrong. Leave a stage out and it does what a genuine device does.
public struct AttestationOptions: Sendable {
    /// Before the nonce is computed.
    public var authenticatorData: @Sendable (inout SimulatedAuthenticatorData) -> Void = { _ in }
    /// The nonce, before it goes into the leaf.
    public var nonce: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// The leaf, before it is signed.
    public var leaf: @Sendable (inout CertificateTemplate) -> Void = { _ in }
    /// The certificates of `x5c`: leaf and intermediate, in DER.
    public var chain: @Sendable (inout [[UInt8]]) -> Void = { _ in }
    /// The receipt, before it is signed.
    public var receipt: @Sendable (inout ReceiptTemplate) -> Void = { _ in }
    /// The receipt's encoded form.
    public var receiptBytes: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// The attestation statement: `x5c` and `receipt`.
    public var statement: @Sendable (inout [CBORPair]) -> Void = { _ in }
    /// The attestation object: `fmt`, `attStmt` and `authData`.
    public var object: @Sendable (inout [CBORPair]) -> Void = { _ in }
    /// The encoded attestation object.
    public var encoded: @Sendable (inout [UInt8]) -> Void = { _ in }

    /// What a genuine device does.
    public init() {}
}
