#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayFleetEngine
internal import AssayKit
internal import AssayOAuthClient
internal import AssayTesting

extension ConsumerSubject {
    private static let jwt: JSON = "urn:ietf:params:oauth:token-type:jwt"
    private static let bearer = "a-bearer-token-of-an-authorization-server"

    /// Proxies that ask about requests to a backend.
    static let customBackend = ConsumerSubject(
        requests: [
            Request(
                "verifyRequest",
                adversaries: [
                    .notGranted: .impossible("a backend without routes grants what a good token asks for"),
                    .malformed: .request { client in
                        Call("verifyRequest", body: ["backend": 5], token: .one(client.token))
                    },
                ]
            ) { client in
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
        ],
        refusingSection: "backends: {orders: {tokens: {apps: [\"\(TestApp.second.id())\"]}}}")

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
                Request(
                    "exchangeToken for a vehicle",
                    adversaries: [
                        .notGranted: .request(FleetEngineReasons.role) { client in
                            fleetToken(
                                client, "consumer",
                                "https://fleetengine.googleapis.com/v1/providers/example-project/trips/t1")
                        },
                        .malformed: .request { client in
                            fleetToken(client, "driver", "https://fleetengine.googleapis.com/v1/nothing")
                        },
                    ]
                ) { client in fleetToken(client, "driver", "\(vehicles)/v\(client.number)") }
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
            refusingSection: """
                account: env:FLEET
                callback: {url: "https://backend.example.com/fleet", token: "env:CALLBACK"}
                roles: {consumer: {callback: true}}
                """,
            secrets: SecretSource { reference in
                switch reference.place {
                case .environment("FLEET"): file
                case .environment("CALLBACK"): Array(secret.utf8)
                default: nil
                }
            },
            secretTexts: [secret, "PRIVATE KEY"],
            upstream: { _ in OutboundResponse(status: 200, body: Array(#"{"allow": true}"#.utf8)) },
            denials: [
                UpstreamDenial(
                    "that the user may not", OutboundResponse(status: 200, body: Array(#"{"allow": false}"#.utf8)))
            ])
    }

    private static func fleetToken(_ client: TestClient, _ role: JSON, _ resource: String) -> Call {
        Call(
            "exchangeToken",
            body: [
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                "subject_token": .string(client.token), "subject_token_type": jwt,
                "audience": "https://fleetengine.googleapis.com/", "scope": role, "resource": .string(resource),
            ])
    }

    /// An authorization server that asks about its clients.
    static func oauthClient() throws -> ConsumerSubject {
        let key = try PrivateKey.generate(.ec(.p256)).publicKey
        let jwk = JWK(signing: key, keyID: "c1").json
        return ConsumerSubject(
            requests: [
                Request(
                    "attestClient",
                    adversaries: [
                        .notGranted: .request(OAuthClientReasons.clientUnknown) { client in
                            Call(
                                "attestClient", body: ["jwk": jwk],
                                token: .one(try await client.makeToken(TestApp.second.resource(), true)))
                        },
                        .malformed: .request { client in
                            let token = try await client.own(limitedUse: true)
                            return Call("attestClient", body: ["jwk": ["kty": "oct"]], token: .one(token))
                        },
                    ]
                ) { client in
                    let token = try await client.own(limitedUse: true)
                    return Call("attestClient", body: ["jwk": jwk], token: .one(token))
                },
                Request(
                    "verifyClientAssertion", withoutDemand: "the part `client_assertion` has demands of its own",
                    adversaries: [
                        .notGranted: .request(OAuthClientReasons.assertionClient) { client in
                            try await clientAssertion(client, of: "nobody.apps.example.com")
                        },
                        .malformed: .request { client in
                            try await clientAssertion(client, type: "urn:ietf:params:oauth:client-assertion-type:other")
                        },
                    ]
                ) { client in try await clientAssertion(client) },
                Request(
                    "introspectToken", withoutToken: "it answers that a token is not active",
                    adversaries: [
                        .notGranted: .impossible("it answers that a token is not active"),
                        .malformed: .request { _ in
                            Call("introspectToken", body: ["token": 5], credentials: BearerToken(bearer))
                        },
                    ]
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
            // A part that is absent refuses, and the attester takes tokens of another app.
            refusingSection: """
                authorization_servers: [https://login.example.com]
                tokens: {apps: ["\(TestApp.second.id())"]}
                attester: {}
                """,
            callers: """
                server:
                  sha256: \(Hex.encode(SHA256.hash(Array(bearer.utf8))))
                  permissions: [clientAttestations.verify, clientAssertions.verify, tokens.introspect]
                """,
            secretTexts: [bearer])
    }
}

extension ConsumerSubject {
    private static func clientAssertion(
        _ client: TestClient, of other: String? = nil,
        type: JSON = "urn:ietf:params:oauth:client-assertion-type:appcheck"
    ) async throws -> Call {
        Call(
            "verifyClientAssertion",
            body: [
                "audience": "https://login.example.com", "client_id": .string(other ?? client.app.oauthClient),
                "client_assertion_type": type,
                "client_assertion": .string(try await client.own(limitedUse: true)),
            ], credentials: BearerToken(bearer))
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
