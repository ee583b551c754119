public import AssayCore

/// What an authorization server or a resource server forwards of a request to it.
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
        guard let target = TargetURI(ofRequest: try fields.string("uri")) else {
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

    /// The values of a header.
    ///
    /// An empty one is one, too.
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

/// The parts of a request that describe its client, as an authorization server or a resource server forwards them: the
/// values of its headers, unchanged, and the values that proofs are compared with.
public struct PresentedClient: Sendable, Hashable {
    /// The values of `OAuth-Client-Attestation`.
    @Exact public var attestations: [String]
    /// The values of `OAuth-Client-Attestation-PoP`.
    @Exact public var possessionProofs: [String]
    /// The values of `DPoP`.
    @Exact public var dpopProofs: [String]
    /// The request's method.
    @Exact public var method: String
    /// The request's URI, as its client addressed it.
    public var target: TargetURI
    /// The parameter `client_id`; nil when it is missing.
    @Exact public var clientID: String?
    /// The access token of a request to a resource server.
    @Exact public var accessToken: String?
    /// The parameter `dpop_jkt` of an authorization request (RFC 9449, section 10).
    @Exact public var dpopThumbprint: String?
    /// The thumbprint of the key that a refresh token or a code is bound to, which must be the attestation's.
    @Exact public var boundThumbprint: String?
    /// `cnf.jkt` of the access token, which must be the thumbprint of the DPoP proof's key.
    @Exact public var tokenThumbprint: String?

    /// Makes the description of a client from the parts of its request.
    public init(
        attestations: [String], possessionProofs: [String] = [], dpopProofs: [String] = [], method: String,
        target: TargetURI, clientID: String? = nil, accessToken: String? = nil, dpopThumbprint: String? = nil,
        boundThumbprint: String? = nil, tokenThumbprint: String? = nil
    ) {
        self.attestations = attestations
        self.possessionProofs = possessionProofs
        self.dpopProofs = dpopProofs
        self.method = method
        self.target = target
        self.clientID = clientID
        self.accessToken = accessToken
        self.dpopThumbprint = dpopThumbprint
        self.boundThumbprint = boundThumbprint
        self.tokenThumbprint = tokenThumbprint
    }
}
