public import AssayCore
public import AssayCrypto

/// A developer team whose servers may call a ``SimulatedAppleServer``: with a key of its own.
public struct SimulatedAppleTeam: Sendable {
    /// Ten characters.
    public let teamID: String
    /// What the App IDs of its apps begin with: its identifier, and the prefixes of older apps.
    public let appIDPrefixes: [String]
    /// Ten characters: the `kid` of its tokens.
    public let keyID: String
    /// The content of the `.p8` file of a developer account.
    public let privateKeyPEM: String
    let publicKey: PublicKey
    private let signer: JWSSigner

    /// A team with a new key.
    ///
    /// - `olderPrefixes`: the App ID prefixes of its apps that are not its identifier.
    public init(
        teamID: String, keyID: String = "SIMULATED1", olderPrefixes: [String] = []
    ) throws(CryptoError) {
        try self.init(teamID: teamID, keyID: keyID, key: .generate(.ec(.p256)), olderPrefixes: olderPrefixes)
    }

    /// A team whose key was made before.
    public init(teamID: String, keyID: String, privateKeyPEM: String) throws(CryptoError) {
        try self.init(teamID: teamID, keyID: keyID, key: PrivateKey(pem: Array(privateKeyPEM.utf8)))
    }

    private init(
        teamID: String, keyID: String, key: PrivateKey, olderPrefixes: [String] = []
    ) throws(CryptoError) {
        self.teamID = teamID
        appIDPrefixes = [teamID] + olderPrefixes
        self.keyID = keyID
        privateKeyPEM = try key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        publicKey = key.publicKey
        signer = try JWSSigner(key: key, keyID: keyID, algorithm: .es256)
    }

    /// A token that the team's servers may use for an hour.
    public func token(at now: Instant) throws(CryptoError) -> String {
        let claims: JSON = ["iss": .string(teamID), "iat": .integer(now.seconds)]
        return try signer.sign(payload: claims.encoded)
    }
}

extension SimulatedAppleServer {
    private static let tokenLifetime = Duration.seconds(3600)

    /// The team whose token a request carries; nil when the token is not good.
    func team(of request: OutboundRequest) -> SimulatedAppleTeam? {
        guard var text = request.header("authorization") else { return nil }
        let token = text.dropping(prefix: "Bearer ")
        switch form {
        case .bare where token != nil: return nil
        case .bearer where token == nil: return nil
        default: text = token ?? text
        }
        guard let jws = try? CompactJWS.parse(utf8: Array(text.utf8)[...]), jws.header.algorithm == .es256,
            let team = teams.first(where: { $0.keyID == jws.header.keyID }),
            (try? jws.verify(with: team.publicKey)) != nil, let claims = try? JSON.parse(jws.payload),
            claims["iss"]?.string == team.teamID, let issued = claims["iat"]?.integer.map(Instant.init(seconds:)),
            issued <= clock.now, clock.now < issued + Self.tokenLifetime
        else { return nil }
        return team
    }
}
