/// An authorization server that authenticates clients by attestation.
public struct AuthorizationServer: Sendable {
    /// How a request shows that its sender holds the attested key: what the server's metadata lists as
    /// `client_attestation_pop_methods_supported`, and whether it binds tokens to the key (RFC 9449).
    public enum Proofs: Sendable, Hashable {
        /// `OAuth-Client-Attestation-PoP` and `DPoP`: tokens are bound to the key.
        case possessionAndDPoP
        /// `OAuth-Client-Attestation-PoP` alone.
        case possession
        /// `DPoP` alone, which answers a challenge in its `nonce` (`dpop_combined`).
        case combined
    }

    /// The issuer identifier (RFC 8414), which proofs name.
    public let issuer: String
    /// Where challenges come from: `challenge_endpoint` of the metadata; nil for none.
    public let challengeEndpoint: String?
    /// What goes with each request.
    public let proofs: Proofs

    private let origins: [ServerAddress]

    /// Describes a server.
    ///
    /// - Parameters:
    ///   - issuer: the issuer identifier, such as `https://login.example.com`.
    ///   - endpoints: endpoints of the server with other origins than the issuer's, such as its token endpoint.
    ///     Nothing is sent to a server that is neither.
    ///   - challengeEndpoint: where challenges come from, on any origin.
    ///   - proofs: what goes with each request.
    /// - Throws: `invalidConfiguration` for a URL that cannot be called.
    public init(
        issuer: String, endpoints: [String] = [], challengeEndpoint: String? = nil, proofs: Proofs = .possessionAndDPoP
    ) throws(AppCheckError) {
        self.issuer = issuer
        self.challengeEndpoint = challengeEndpoint
        self.proofs = proofs
        let addresses = ([issuer] + endpoints).compactMap { ServerAddress($0) }
        guard addresses.count == endpoints.count + 1, challengeEndpoint.map({ ServerAddress($0) != nil }) ?? true,
            !issuer.utf8.contains(UInt8(ascii: "?"))
        else {
            throw AppCheckError(
                .invalidConfiguration,
                "The issuer, the endpoints and the challenge endpoint are URLs such as "
                    + "https://login.example.com/token; plain http "
                    + "is accepted for localhost, 127.0.0.1 and [::1] only.")
        }
        origins = addresses
    }

    /// Whether requests to a URL are requests to this server.
    func has(_ address: ServerAddress) -> Bool { origins.contains { $0.hasOrigin(of: address) } }
}
