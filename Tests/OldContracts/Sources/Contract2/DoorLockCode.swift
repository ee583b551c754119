import AssayCore

/// The evidence: `{"client": "client-1", "challenge": "…", "code": "…"}`, with bytes in Base64.
struct DoorLockCode: RequestMessage {
    static let shape: MessageShape? = [
        .required("client", .text), .required("challenge", .bytes), .required("code", .bytes),
    ]

    let client: String
    let challenge: [UInt8]
    let code: [UInt8]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        client = try fields.string("client")
        challenge = try fields.bytes("challenge")
        code = try fields.bytes("code")
    }
}
