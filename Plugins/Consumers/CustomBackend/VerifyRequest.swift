internal import AssayCore
internal import AssayRequestProof

/// A proxy's question about one request of its client.
struct VerifyRequest: RequestMessage {
    /// The backend's name; nil if there is only one.
    let backend: String?
    /// What a transport says that the client asked for.
    let methods: [String]
    let targets: [String]
    /// What the headers `X-Original-*` say.
    let originalMethods: [String]
    let originalTargets: [String]
    /// What the headers `X-Forwarded-*` say.
    let forwardedMethods: [String]
    let forwardedTargets: [String]
    /// The header fields of a proof.
    let proof: RequestProofHeaders

    init(_ fields: RequestFields) throws(InvalidRequest) {
        backend = try fields.optionalString("backend")
        methods = try fields.strings("method")
        targets = try fields.strings("uri")
        originalMethods = try fields.strings("originalMethod")
        originalTargets = try fields.strings("originalUri")
        forwardedMethods = try fields.strings("forwardedMethod")
        forwardedTargets = try fields.strings("forwardedUri")
        proof = RequestProofHeaders(
            contentDigest: Self.joined(try fields.strings("contentDigest")),
            signatureInput: Self.joined(try fields.strings("signatureInput")),
            signature: Self.joined(try fields.strings("signature")))
    }

    static let shape: MessageShape? = [.optional("backend", .text)]

    /// The fields of the proof, and the headers that they come from.
    static let proofHeaders: [HTTPBinding.Header] = [
        .init("content-digest", "contentDigest"), .init("signature-input", "signatureInput"),
        .init("signature", "signature"),
    ]

    private static func joined(_ values: [String]) -> String? {
        values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
