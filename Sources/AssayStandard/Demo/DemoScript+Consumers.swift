#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayVerifier
internal import NIOHTTP1

/// What succeeds with the app's tokens, and who else tries.
extension DemoScript {
    private static let notEnough = "The App Check token is not sufficient."
    private static let notAllowed = "The request is not allowed."

    /// Plays the steps that succeed; returns a limited-use token that is used up by now.
    func playConsumers(_ session: DemoSession) async throws -> String? {
        _ = try await report.step("a proxy asks before it forwards a request", status: 204) { [self] in
            let answer = try await verify("GET", "/orders/1", session.token)
            let app = answer.header("x-appcheck-app-id")
            guard DemoPolicy.app.hasSuffix("/\(app)") else { throw DemoFailure("the app is `\(app)`") }
            return (answer, "for the backend: X-AppCheck-App-Id: \(app)", ())
        }
        let spent = try await report.step("a payment needs a limited-use token", status: 204) { [self] in
            let token = try await limitedUseToken(session)
            let answer = try await verify("POST", "/payments/1", token)
            guard answer.header("x-appcheck-consumed") == "true" else { throw DemoFailure("it was not consumed") }
            return (answer, "consumed: X-AppCheck-Consumed: true", token)
        }
        _ = try await report.step("a rider gets Fleet Engine's token for a trip") { [self] in
            let answer = try await trip("trip-1", session.token, user: users.token(trip: "trip-1"))
            return (answer, try summary(ofTrip: answer.text("jwt")), ())
        }
        _ = try await report.step("the same by token exchange (RFC 8693)") { [self] in
            let answer = try await client.post(
                target: "/token",
                form: [
                    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": session.token,
                    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                    "actor_token": users.token(trip: "trip-1"),
                    "actor_token_type": "urn:ietf:params:oauth:token-type:jwt",
                    "audience": "https://fleetengine.googleapis.com/", "scope": "consumer",
                    "resource": "https://fleetengine.googleapis.com/v1/providers/example-project/trips/trip-1",
                ])
            return (answer, try summary(ofTrip: answer.text("access_token")), ())
        }
        _ = try await report.step("the app gets a key of its OAuth client attested") { [self] in
            let key = JWK(try PrivateKey.generate(.ec(.p256)).publicKey)
            let answer = try await attestClient(key, limitedUseToken(session))
            return (answer, try summary(of: answer.text("client_attestation"), key, session), ())
        }
        return spent
    }

    /// Plays the steps that must fail.
    func playBadConsumers(_ session: DemoSession, spent: String) async throws {
        try await refused("a request to the backend without a token", "token_missing", status: 401, message: nil) {
            [self] in try await verify("GET", "/orders/1", nil)
        }
        try await refused("a payment with a session token", "token_not_limited_use", message: nil) { [self] in
            try await verify("POST", "/payments/1", session.token)
        }
        try await refused("a second payment with one token", "token_reused", message: nil) { [self] in
            try await verify("POST", "/payments/1", spent)
        }
        try await refused("another rider's trip", "fleet_engine_id_refused", message: DemoScript.notAllowed) { [self] in
            try await trip("trip-2", session.token, user: users.token(trip: "trip-1"))
        }
        try await refused("a trip without its user", "fleet_engine_actor_missing", message: DemoScript.notAllowed) {
            [self] in try await trip("trip-1", session.token, user: nil)
        }
        try await refused(
            "a client attestation for a used token", "token_reused", status: 401, message: DemoScript.notEnough
        ) { [self] in
            try await attestClient(JWK(try PrivateKey.generate(.ec(.p256)).publicKey), spent)
        }
    }

    // MARK: - What a token opened

    private func summary(ofTrip token: String) throws -> String {
        let claims = try account.claims(of: token)
        guard claims["iss"] == .string(DemoAccount.email), claims["authorization"] == ["tripid": "trip-1"] else {
            throw DemoFailure("its claims differ")
        }
        return "signed by the account: authorization.tripid: trip-1"
    }

    private func summary(of attestation: String, _ key: JWK, _ session: DemoSession) throws -> String {
        guard let (type, claims) = session.verifier.signed(attestation), type == "oauth-client-attestation+jwt" else {
            throw DemoFailure("it is not signed by the key set")
        }
        guard let subject = claims["sub"]?.string, DemoPolicy.client.hasSuffix("/\(subject)") else {
            throw DemoFailure("it is for another client")
        }
        guard let jwk = claims["cnf"]?["jwk"], try JWK(jwk).thumbprint == key.thumbprint else {
            throw DemoFailure("it is for another key")
        }
        return "sub: \(subject), cnf.jwk: its key"
    }

    // MARK: - Requests

    /// What nginx asks about a request of a client.
    private func verify(_ method: String, _ path: String, _ token: String?) async throws -> DemoClient.Answer {
        var headers: HTTPHeaders = ["X-Original-URI": path, "X-Original-Method": method]
        if let token { headers.add(name: "X-Firebase-AppCheck", value: token) }
        return try await client.get(target: "/verify/orders", headers: headers)
    }

    private func trip(_ trip: String, _ token: String, user: String?) async throws -> DemoClient.Answer {
        var headers: HTTPHeaders = ["X-Firebase-AppCheck": token]
        if let user { headers.add(name: "Authorization", value: "Bearer \(user)") }
        return try await client.get(target: "/token/consumer/\(trip)", headers: headers)
    }

    private func attestClient(_ key: JWK, _ token: String) async throws -> DemoClient.Answer {
        try await client.post(
            target: "/client-attestation", headers: ["X-Firebase-AppCheck": token], body: ["jwk": key.json])
    }

    private func limitedUseToken(_ session: DemoSession) async throws -> String {
        try await assert(phone, session.keyID, session.artifact, limitedUse: true).text("token")
    }
}
#endif
