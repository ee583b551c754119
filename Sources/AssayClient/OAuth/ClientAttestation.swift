/// A client attestation: shows an authorization server that an OAuth client's instance is genuine and which key it has
/// (draft-ietf-oauth-attestation-based-client-auth).
public struct ClientAttestation: Sendable {
    /// The JWT, for the header `OAuth-Client-Attestation`.
    public let text: String
    /// The client's identifier, which requests have as `client_id`.
    public let clientID: String
    /// The thumbprint of the key (RFC 7638), for the parameter `dpop_jkt` of an authorization request.
    public let thumbprint: String
    /// When it ends, at the latest.
    public let expires: Moment

    let token: AppCheckToken
    let held: InstanceKeyHolder.Stored
}

extension ClientAttestation: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the attestation itself, so that it gets into no log.
    public var description: String { "ClientAttestation(\(text.utf8.count) bytes, of \(ShownText.of(clientID)))" }
    /// The same.
    public var debugDescription: String { description }
}

/// What an attestation says of itself; its signature is for authorization servers.
struct AttestationClaims: Sendable {
    /// Longer attestations are kept for no longer than this.
    static let longestKept = Interval.minutes(7 * 24 * 60)

    let clientID: String
    /// `exp` less `iat`; nil without `iat`.
    let lifetime: Interval?

    /// Checks that an attestation is about a key and a client.
    ///
    /// - Parameter client: nil when any client may be named.
    init(_ text: String, of key: InstanceJWK, client: String?) throws(AppCheckError) {
        guard let claims = TokenClaims.claims(of: text), let clientID = claims["sub"]?.text,
            (1...1024).contains(clientID.utf8.count), case .integer? = claims["exp"]
        else {
            throw AppCheckError(
                .malformedReply,
                "The client attestation is no JWT of at most \(ClientLimits.token) bytes with `sub` and `exp`.")
        }
        guard key.isSame(as: claims["cnf"]?["jwk"]) else {
            throw AppCheckError(
                .foreignToken, "The client attestation is of another key than this instance's. It is not used.")
        }
        if let client, !client.sameBytes(as: clientID) {
            throw AppCheckError(
                .foreignToken,
                "The client attestation is of another client than \(ShownText.of(client)). It is not used. Check "
                    + "`client`, and the server's policy, which names the client of each app.")
        }
        self.clientID = clientID
        lifetime = TokenClaims.lifetime(ofClaims: claims)
    }
}
