#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayPrivacyPass
internal import AssayPrivateToken
internal import AssayTesting

extension ProviderSubject {
    /// Clients with tokens of a simulated issuer.
    static func privacyPass() throws -> ProviderSubject {
        let clients = try PrivacyPassClients()
        return ProviderSubject(
            exchanges: [
                Exchange(
                    "exchangePrivacyPassToken", challengeMethod: PrivacyPassClients.challenges,
                    adversaries: clients.adversaries { SHA256.hash($0.challenge) }
                ) { try clients.body($0, redemption: SHA256.hash($0.challenge)) },
                Exchange(
                    "exchangeCachedPrivacyPassToken", untimed: "a token tells no time, and is made for no challenge",
                    adversaries: clients.adversaries { _ in [] }
                ) { try clients.body($0, redemption: []) },
            ],
            section: { app in
                """
                issuers:
                  - {name: \(clients.issuer.name), keys: [{token_key: "\(Base64.encode(clients.issuer.tokenKey))"}]}
                  - name: \(clients.former.name)
                    keys: [{token_key: "\(Base64.encode(clients.former.tokenKey))", until: "2026-01-01T00:00:00Z"}]
                origins: [\(PrivacyPassClients.origin(app))]
                contexts: [per_challenge, none]
                """
            },
            wrongSections: [
                "issuers: [{name: issuer.example.com, keys: [{token_key: AAAA}]}] # wrong\norigins: [app.example.com]",
                """
                issuers: [{name: issuer.example.com, keys: [{token_key: "\(Base64.encode(clients.issuer.tokenKey))"}]}]
                origins: [] # wrong
                """,
                "issuers: [] # wrong\norigins: [app.example.com]",
            ], simulator: try PrivacyPassSimulator())
    }
}

/// Clients of an issuer, of one whose key has ended, and of one that nobody trusts.
private struct PrivacyPassClients: Sendable {
    static let challenges = "generatePrivacyPassChallenge"

    let issuer: SimulatedTokenIssuer
    let former: SimulatedTokenIssuer
    private let stranger: SimulatedTokenIssuer

    init() throws {
        issuer = try SimulatedTokenIssuer()
        former = try SimulatedTokenIssuer(name: "former.example.com")
        stranger = try SimulatedTokenIssuer()
    }

    static func origin(_ app: TestApp) -> String { "app\(app.rawValue).example.com" }

    /// - Parameters:
    ///   - other: the issuer in place of the genuine one.
    ///   - app: the app whose origin the token is for; the client's when nil.
    func body(
        _ client: TestDevice, redemption: [UInt8], by other: SimulatedTokenIssuer? = nil, origin app: TestApp? = nil,
        saltCount: Int = 48, change: (inout [UInt8]) -> Void = { _ in }, extended: Bool = false
    ) throws -> JSON {
        let issuer = other ?? issuer
        let challenge = SimulatedTokenText.challenge(
            issuer: issuer.name, redemption: redemption, origins: Self.origin(app ?? client.app))
        let token = try issuer.token(for: challenge, saltCount: saltCount, change: change)
        let text = JSON.string(SimulatedTokenText.authorization(extended ? token + [0] : token))
        guard !client.challenge.isEmpty else { return ["privateToken": text] }
        return ["challenge": .string(Base64.encode(client.challenge)), "privateToken": text]
    }

    /// - Parameter redemption: the context of a genuine token.
    func adversaries(
        _ redemption: @escaping @Sendable (TestDevice) -> [UInt8]
    ) -> [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        let genuineID = SHA256.hash(issuer.tokenKey)
        return [
            .wrongAuthority: .request(PrivacyPassReasons.keyUnknown) { client in
                try body(client, redemption: redemption(client), by: stranger)
            },
            .otherKey: .request(PrivacyPassReasons.signature) { client in
                try body(client, redemption: redemption(client), by: stranger) { signed in
                    signed.replaceSubrange(66..<98, with: genuineID)
                }
            },
            .otherApp: .request(PrivacyPassReasons.challenge) { client in
                try body(client, redemption: redemption(client), origin: .second)
            },
            .untrustedDevice: .impossible("a token says nothing of a device: the issuer's attester has looked at it"),
            .otherChallenge: .request(PrivacyPassReasons.challenge) { client in
                try body(client, redemption: SHA256.hash([1]))
            },
            .expired: .request(PrivacyPassReasons.keyEnded) { client in
                try body(client, redemption: redemption(client), by: former)
            },
            .future: .impossible("a token tells no time"),
            .malformed: .request(PrivacyPassReasons.malformed) { client in
                try body(client, redemption: redemption(client), extended: true)
            },
            .downgraded: .request(PrivacyPassReasons.signature) { client in
                try body(client, redemption: redemption(client), saltCount: 0)
            },
            Adversary("other-type", "a token that only its issuer can verify gets no token"): .request(
                PrivacyPassReasons.type
            ) { client in
                try body(client, redemption: redemption(client)) { $0[1] = 1 }
            },
        ]
    }
}

extension ConsumerSubject {
    /// Apps that get blind signatures.
    static func privateToken() throws -> ConsumerSubject {
        let key = try SimulatedTokenIssuer()
        @Sendable func name(_ app: TestApp) -> String {
            app == .foreign ? "issuer-2.example.com" : "issuer.example.com"
        }
        let challenge = SimulatedTokenText.challenge(issuer: name(.first), redemption: [], origins: "app.example.com")
        @Sendable func request(_ token: String, cut: Int = 0) throws -> Call {
            let order = try SimulatedTokenOrder(for: challenge, tokenKey: key.tokenKey)
            let request = Base64.encode(order.request.dropLast(cut))
            return Call("issuePrivateTokens", body: ["tokenRequests": [.string(request)]], token: .one(token))
        }
        let section = "keys: [{private_key: \"env:KEY\"}]\naccept_unbound_tokens: true\ndaily_batches: 8"
        return ConsumerSubject(
            requests: [
                Request(
                    "issuePrivateTokens",
                    adversaries: [
                        .notGranted: .request(PrivateTokenReasons.limit) { client in
                            for _ in 0..<8 { _ = try await client.call(request(client.token)) }
                            return try request(client.token)
                        },
                        .malformed: .request { try request($0.token, cut: 1) },
                    ]
                ) { try request($0.token) },
                Request(
                    "getPrivateTokenIssuerDirectory", withoutToken: "the issuer's public keys are for everybody",
                    adversaries: [
                        .notGranted: .impossible("the issuer's public keys are for everybody"),
                        .malformed: .request { _ in Call("getPrivateTokenIssuerDirectory", body: ["issuer": 5]) },
                    ]
                ) { Call("getPrivateTokenIssuerDirectory", body: ["issuer": .string(name($0.app))]) },
            ],
            section: { "issuer: \(name($0))\n\(section)" },
            wrongSections: [
                "issuer: issuer.example.com\nkeys: [{private_key: \"env:MISSING\"}] # wrong",
                "issuer: issuer.example.com\nkeys: [{private_key: \"env:KEY\"}]\nbatch: 33 # wrong",
            ],
            refusingSection: "issuer: issuer-3.example.com\n\(section)\ntokens: {apps: [\"\(TestApp.second.id())\"]}",
            secrets: SecretSource { $0.place == .environment("KEY") ? Array(key.privateKeyPEM.utf8) : nil },
            secretTexts: [key.privateKeyPEM])
    }
}
#endif
