internal import AssayCBOR
internal import AssayCore
internal import AssayCrypto

/// An assertion of a device, `{signature, authenticatorData}` in CBOR (WebAuthn, section 6.1).
///
/// Apple's devices make it, and Assay's client for Android. The signature is by ECDSA with SHA-256, over the SHA-256 of the authenticator
/// data and the SHA-256 of what the client wants to say.
public struct DeviceAssertion: Sendable {
    /// Real ones have up to 230 bytes.
    public static let byteLimit = 1024
    private static let headCount = 37

    /// A DER `ECDSA-Sig-Value`.
    public let signature: [UInt8]
    /// The hash of the app's name, flags, the counter, and maybe extensions.
    public let authenticatorData: [UInt8]
    /// SHA-256 of the name of the app: 32 bytes.
    public let relyingPartyHash: [UInt8]
    /// It rises with each assertion of the key.
    public let counter: UInt32

    /// Reads an assertion, whose keys may come in any order; nil for anything else.
    ///
    /// Text keys that are not known are passed over, as the provider does that exchanges assertions.
    public init?(_ bytes: [UInt8]) {
        let decoder = CBORDecoder(limits: CBORLimits(bytes: Self.byteLimit, depth: 8, items: 64))
        guard let pairs = try? decoder.decode(bytes).map, pairs.allSatisfy({ !$0.key.text.isNil }) else {
            return nil
        }
        let values = CBORValue.map(pairs)
        guard let signature = values["signature"]?.bytes, let data = values["authenticatorData"]?.bytes,
            data.count >= Self.headCount
        else { return nil }
        self.signature = signature
        authenticatorData = data
        relyingPartyHash = Array(data.prefix(32))
        counter = data[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether a key has signed it.
    ///
    /// - Parameters:
    ///   - publicKey: on P-256: `04 ‖ X ‖ Y`, 65 bytes.
    ///   - digest: SHA-256 of what the client wants to say, 32 bytes.
    public func isSigned(by publicKey: [UInt8], over digest: [UInt8]) -> Bool {
        guard let key = try? ECPublicKey.kept(curve: .p256, x963: publicKey) else { return false }
        // The nonce is the message of the signature, not its digest: it is hashed once more.
        let nonce = SHA256.hash(authenticatorData, digest)
        return key.isValidSignature(der: signature[...], digest: .sha256, message: nonce[...])
    }
}
