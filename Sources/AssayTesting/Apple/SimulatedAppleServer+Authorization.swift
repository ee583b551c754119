internal import AssayCrypto
internal import AssayKit

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
