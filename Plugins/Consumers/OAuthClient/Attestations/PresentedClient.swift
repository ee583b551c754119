public import AssayKit

/// What a request shows of its client, as an authorization server or a resource server hands it on: the values of its
/// headers, each as it came, and what else proofs are held against.
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
    public var target: RequestTarget
    /// The parameter `client_id`; nil where there is none.
    @Exact public var clientID: String?
    /// The access token of a request to a resource server.
    @Exact public var accessToken: String?
    /// The parameter `dpop_jkt` of an authorization request (RFC 9449, section 10).
    @Exact public var dpopThumbprint: String?
    /// The thumbprint of the key that a refresh token or a code is bound to, which must be the attestation's.
    @Exact public var boundThumbprint: String?
    /// `cnf.jkt` of the access token, which must be the thumbprint of the DPoP proof's key.
    @Exact public var tokenThumbprint: String?

    public init(
        attestations: [String], possessionProofs: [String] = [], dpopProofs: [String] = [], method: String,
        target: RequestTarget, clientID: String? = nil, accessToken: String? = nil, dpopThumbprint: String? = nil,
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
