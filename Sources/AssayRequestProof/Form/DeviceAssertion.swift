internal import AssayCBOR
internal import AssayCore

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
}
