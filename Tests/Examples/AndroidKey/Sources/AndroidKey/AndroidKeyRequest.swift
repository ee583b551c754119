public import AssayCore

/// The request of the exchange: the challenge, and the certificates of a key that was made for it.
public struct AndroidKeyRequest: RequestMessage {
    static let chainLimit = 5

    let challenge: [UInt8]
    /// The leaf first, each in DER.
    let chain: [[UInt8]]

    /// Reads the fields `challenge` and `chain`.
    public init(_ fields: RequestFields) throws(InvalidRequest) {
        challenge = try fields.bytes("challenge")
        chain = try fields.bytesList("chain", atMost: Self.chainLimit)
        guard !chain.isEmpty else { throw InvalidRequest("the field chain has no certificate") }
    }

    /// The fields, for documentation.
    public static let shape: MessageShape? = [
        .required("challenge", .bytes), .required("chain", .list(.bytes, atMost: chainLimit)),
    ]
}
