internal import AssayKit

/// What an authorization server or a resource server hands on of a request to it.
struct VerifyClientRequest: RequestMessage {
    static let shape: MessageShape? = [
        .optional("audience", .text), .optional("clientAttestation", values), .optional("clientAttestationPop", values),
        .optional("dpop", values), .required("method", .textOfLength(1...32)), .required("uri", .text),
        .optional("clientId", .text), .optional("accessToken", .text), .optional("dpopJkt", .text),
        .optional("boundJkt", .text), .optional("tokenJkt", .text),
    ]

    private static let values = MessageField.Kind.list(.text, atMost: ClientAttestationVerifier.valueLimit)

    let audience: String?
    let client: PresentedClient

    init(_ fields: RequestFields) throws(InvalidRequest) {
        audience = try fields.optionalString("audience")
        let method = try fields.string("method")
        guard method.utf8.count <= 32 else { throw InvalidRequest("the field 'method' is too large") }
        guard let target = RequestTarget(ofRequest: try fields.string("uri")) else {
            throw InvalidRequest("the field 'uri' must be the absolute URI of the request, as its client addressed it")
        }
        client = PresentedClient(
            attestations: try VerifyClientRequest.values("clientAttestation", fields),
            possessionProofs: try VerifyClientRequest.values("clientAttestationPop", fields),
            dpopProofs: try VerifyClientRequest.values("dpop", fields), method: method, target: target,
            clientID: try fields.optionalString("clientId"), accessToken: try fields.optionalString("accessToken"),
            dpopThumbprint: try fields.optionalString("dpopJkt"),
            boundThumbprint: try fields.optionalString("boundJkt"),
            tokenThumbprint: try fields.optionalString("tokenJkt"))
    }

    /// The values of a header. An empty one is one, too.
    private static func values(_ name: String, _ fields: RequestFields) throws(InvalidRequest) -> [String] {
        let values = try fields.strings(name)
        guard values.count <= ClientAttestationVerifier.valueLimit else {
            throw InvalidRequest("the field '\(name)' has too many values")
        }
        return values
    }
}

/// A request for a challenge.
struct ChallengeRequest: RequestMessage {
    static let shape: MessageShape? = [.optional("audience", .text)]

    let audience: String?

    init(_ fields: RequestFields) throws(InvalidRequest) {
        audience = try fields.optionalString("audience")
    }
}
