#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayTesting

extension ConsumerSubject {
    private static let jwt: JSON = "urn:ietf:params:oauth:token-type:jwt"
    private static let bearer = "a-bearer-token-of-an-authorization-server"

    /// Proxies that ask about requests to a backend.
    static let customBackend = ConsumerSubject(
        requests: [
            Request("verifyRequest") { client in
                Call(
                    "verifyRequest",
                    body: [
                        "backend": "orders", "originalMethod": "POST",
                        "originalUri": .string("/orders/\(client.number)?page=2"),
                    ], token: .one(client.token))
            }
        ],
        section: { app in app == .foreign ? "backends: {parcels: {}}" : "backends: {orders: {}}" },
        wrongSections: [
            "backends: {orders: {routes: 1}} # wrong", "backends: {orders: {tokens: {max_age: soon}}} # wrong",
            "backends: {orders: {tokens: {enforcement: SOMETIMES}}} # wrong",
        ])

    /// Drivers for whom the operator's backend speaks.
    static func fleetEngine() throws -> ConsumerSubject {
        let pem = try PrivateKey.generate(.rsa(bits: 2048)).pem().withUnsafeBytes { Array($0) }
        let account: JSON = [
            "type": "service_account", "project_id": "example-project", "private_key_id": "0a1b2c",
            "private_key": .string(String(decoding: pem, as: UTF8.self)),
            "client_email": "fleet@example-project.iam.gserviceaccount.com", "client_id": "100000000000000000001",
            "token_uri": "https://oauth2.googleapis.com/token",
        ]
        let vehicles = "https://fleetengine.googleapis.com/v1/providers/example-project/vehicles"
        let (file, secret) = (account.encoded, "a-secret-of-the-callback-0123456789")
        return ConsumerSubject(
            requests: [
                Request("exchangeToken for a vehicle") { client in
                    Call(
                        "exchangeToken",
                        body: [
                            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                            "subject_token": .string(client.token), "subject_token_type": jwt,
                            "audience": "https://fleetengine.googleapis.com/", "scope": "driver",
                            "resource": .string(vehicles + "/v\(client.number)"),
                        ])
                }
            ],
            section: { app in
                """
                account: env:FLEET
                callback: {url: "https://backend.example.com/fleet", token: "env:CALLBACK"}
                roles: {driver: {callback: true}}
                """
            },
            wrongSections: [
                "account: env:MISSING # wrong\nroles: {server: {}}",
                "account: env:FLEET\nroles: {pilot: {}} # wrong",
                "account: env:FLEET\ncallback: {url: \"http://backend.example.com/\", token: \"env:CALLBACK\"} # wrong",
            ],
            secrets: SecretSource { reference in
                switch reference.place {
                case .environment("FLEET"): file
                case .environment("CALLBACK"): Array(secret.utf8)
                default: nil
                }
            },
            secretTexts: [secret, "PRIVATE KEY"],
            upstream: { _ in OutboundResponse(status: 200, body: Array(#"{"allow": true}"#.utf8)) })
    }

    /// An authorization server that asks about its clients.
    static func oauthClient() throws -> ConsumerSubject {
        let key = try PrivateKey.generate(.ec(.p256)).publicKey
        let jwk = JWK(signing: key, keyID: "c1").json
        return ConsumerSubject(
            requests: [
                Request("attestClient") { client in
                    let token = try await client.own(limitedUse: true)
                    return Call("attestClient", body: ["jwk": jwk], token: .one(token))
                },
                Request("verifyClientAssertion") { client in
                    let token = try await client.own(limitedUse: true)
                    return Call(
                        "verifyClientAssertion",
                        body: [
                            "audience": "https://login.example.com", "client_id": .string(client.app.oauthClient),
                            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:appcheck",
                            "client_assertion": .string(token),
                        ], credentials: BearerToken(bearer))
                },
                Request(
                    "introspectToken", withoutToken: "it answers that a token is not active"
                ) { client in
                    Call(
                        "introspectToken",
                        body: ["token": .string(client.token), "audience": "https://login.example.com"],
                        credentials: BearerToken(bearer))
                },
            ],
            section: { app in
                """
                authorization_servers: [https://login\(app == .foreign ? "-2" : "").example.com]
                attester: {}
                client_assertion: {}
                introspection: {}
                """
            },
            wrongSections: [
                "authorization_servers: 5 # wrong\nattester: {}",
                "authorization_servers: [https://login.example.com]\nattester: [] # wrong",
            ],
            callers: """
                server:
                  sha256: \(Hex.encode(SHA256.hash(Array(bearer.utf8))))
                  permissions: [clientAttestations.verify, clientAssertions.verify, tokens.introspect]
                """,
            secretTexts: [bearer])
    }
}

extension TestClient {
    /// A limited-use token of the policy's OAuth client, unless a check wants a bad one.
    fileprivate func own(limitedUse: Bool) async throws -> String {
        guard hasGoodToken else { return token }
        return try await makeToken("oauthClients/\(app.oauthClient)", limitedUse)
    }
}
#endif
