internal import AssayKit

/// What a client sends to have its key's attestation verified.
struct AttestationRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("attestationStatement", .bytes), .required("challenge", .bytes), .required("keyId", .bytes),
    ]

    /// The CBOR attestation object.
    let attestation: [UInt8]
    let challenge: [UInt8]
    /// The key identifier, decoded: 32 bytes in good requests.
    let keyID: [UInt8]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        attestation = try fields.bytes("attestationStatement")
        challenge = try fields.bytes("challenge")
        keyID = try fields.bytes("keyId")
    }
}

/// What a client sends to prove again that it holds an attested key. There is no key identifier in it.
struct AssertionRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("artifact", .bytes), .required("assertion", .bytes), .required("challenge", .bytes),
    ]

    /// What the exchange of the attestation returned.
    let artifact: [UInt8]
    /// The CBOR assertion.
    let assertion: [UInt8]
    let challenge: [UInt8]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        artifact = try fields.bytes("artifact")
        assertion = try fields.bytes("assertion")
        challenge = try fields.bytes("challenge")
    }
}
