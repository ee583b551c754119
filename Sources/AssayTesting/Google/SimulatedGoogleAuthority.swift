internal import AssayCore
internal import AssayCrypto
internal import Synchronization

/// Google's authorization server, for one service account and one scope.
final class SimulatedGoogleAuthority: Sendable {
    private static let lifetime: Int64 = 3599

    /// The key file of the service account.
    let accountFile: String
    private let key: PrivateKey
    private let scope: String
    private let clock: HostClock
    private let tokens = Mutex<[ExactText: Instant]>([:])

    init(email: String, scope: String, clock: HostClock) throws(SimulationError) {
        let (key, pem) = try SimulationError.wrapping { () throws(CryptoError) in
            let key = try PrivateKey.generate(.rsa(bits: 2048))
            return (key, try key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
        self.key = key
        self.scope = scope
        self.clock = clock
        let file: JSON = [
            "type": "service_account", "client_email": .string(email), "private_key_id": "0123456789abcdef",
            "private_key": .string(pem),
        ]
        accountFile = String(decoding: file.encoded, as: UTF8.self)
    }

    /// Ends all access tokens.
    func forget() { tokens.withLock { $0 = [:] } }

    /// Whether a request has an access token that is valid.
    func accepts(_ request: OutboundRequest) -> Bool {
        let end = tokens.withLock { $0[ExactText(request.header("authorization") ?? "")] }
        return end.map { clock.now < $0 } ?? false
    }

    /// The answer to a request for an access token.
    func grant(_ request: OutboundRequest) -> OutboundResponse {
        let fields = FormFields(request.body)
        guard fields["grant_type"].isExactly("urn:ietf:params:oauth:grant-type:jwt-bearer"),
            let assertion = fields["assertion"], let signed = try? CompactJWS.parse(utf8: Array(assertion.utf8)[...]),
            (try? signed.verify(with: key.publicKey)) != nil, let claims = try? JSON.parse(signed.payload),
            claims["aud"]?.string.isExactly(request.url.text) ?? false,
            claims["scope"]?.string.isExactly(scope) ?? false,
            let end = claims["exp"]?.integer, clock.now.seconds < end
        else { return Self.json(400, ["error": "invalid_grant", "error_description": "Invalid JWT."]) }
        let token = "ya29.simulated-\(Hex.encode(Randomness.system.bytes(12)))"
        tokens.withLock { $0[ExactText("Bearer \(token)")] = clock.now + .seconds(Self.lifetime) }
        return Self.json(
            200, ["access_token": .string(token), "expires_in": .integer(Self.lifetime), "token_type": "Bearer"])
    }

    static func json(_ status: Int, _ body: JSON) -> OutboundResponse {
        OutboundResponse(
            status: status, headers: [OutboundHeader("Content-Type", "application/json")], body: body.encoded)
    }
}
