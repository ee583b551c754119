#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayCustomToken
internal import AssayDebug
internal import AssayKit
internal import AssayTesting

extension ProviderSubject {
    /// Devices that a simulated Apple trusts.
    static func appAttest() throws -> ProviderSubject {
        let authority = try SimulatedAppleCA(at: ManualClock().now)
        let roots = [
            ("trust_anchor", authority.rootCertificatePEM),
            ("receipt_trust_anchor", authority.receiptRootCertificatePEM),
        ]
        .map { "\($0): \"\($1.replacing("\n", with: "\\n"))\"" }.joined(separator: "\n")
        let device = SimulatedDevice(authority: authority)
        let app: @Sendable (TestApp) -> SimulatedApp = { app in
            SimulatedApp(appID: "ABCDE12345.com.example.app\(app.rawValue)", environment: .production)
        }
        let attest: @Sendable (TestDevice, String, [UInt8]) throws -> JSON = { client, keyID, challenge in
            let attestation = try device.attestKey(
                keyID, clientDataHash: SHA256.hash(challenge), app: app(client.app), at: client.now)
            return [
                "keyId": .string(keyID), "attestationStatement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)),
            ]
        }
        let challenges = "generateAppAttestChallenge"
        return ProviderSubject(
            exchanges: [
                Exchange("exchangeAppAttestAttestation", challengeMethod: challenges) { client in
                    try attest(client, try device.generateKey(), client.challenge)
                },
                Exchange("exchangeAppAttestAssertion", challengeMethod: challenges) { client in
                    let keyID = try device.generateKey()
                    let attested = try await client.call(
                        "exchangeAppAttestAttestation", attest(client, keyID, client.makeChallenge(challenges)))
                    guard let artifact = attested["artifact"]?.string.flatMap({ Base64.decode($0) }) else {
                        throw MissingField(description: "the reply to an attestation has no artifact")
                    }
                    let assertion = try device.generateAssertion(
                        keyID, clientDataHash: SHA256.hash(artifact, client.challenge), app: app(client.app))
                    return [
                        "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                        "challenge": .string(Base64.encode(client.challenge)),
                    ]
                },
            ],
            section: { _ in "receipts: required\n\(roots)" },
            wrongSections: [
                "trust_anchor: no certificate # wrong", "environments: [production, testing] # wrong",
                "receipts: sometimes # wrong", "token_ttl: 1m # wrong",
            ],
            app: { "apple: {team_id: ABCDE12345, bundle_id: com.example.app\($0.rawValue)}" },
            simulator: AppAttestSimulator())
    }

    /// Servers that sign with the key of a service account.
    static func customToken() throws -> ProviderSubject {
        let key = try PrivateKey.generate(.rsa(bits: 2048))
        let pem = String(decoding: try key.publicKey.pem(), as: UTF8.self).replacing("\n", with: "\\n")
        let audience = "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"
        let email = "signer@example-project.iam.gserviceaccount.com"
        return ProviderSubject(
            exchanges: [
                Exchange(
                    "exchangeCustomToken", lifetime: .seconds(300),
                    reuse: "a custom token is good until it expires, five minutes at most"
                ) { client in
                    let now = client.now.seconds
                    let claims: JSON = [
                        "iss": .string(email), "sub": .string(email), "app_id": .string(client.app.id()),
                        "aud": .string(audience), "iat": .integer(now), "exp": .integer(now + 300),
                    ]
                    let token = try JWSSigner(key: key, keyID: "k1", algorithm: .rs256)
                        .sign(payload: claims.encoded, type: "JWT")
                    return ["customToken": .string(token)]
                }
            ],
            section: { _ in "service_accounts: [{email: \(email), public_key: \"\(pem)\"}]" },
            wrongSections: [
                "service_accounts: [{email: \(email), public_key: x}] # wrong", "service_accounts: {} # wrong",
            ], simulator: try CustomTokenSimulator(key))
    }

    /// Developers who know a debug token of the app.
    static let debug = ProviderSubject(
        exchanges: [
            Exchange("exchangeDebugToken", reuse: "a debug token is a secret that is good until it is removed") {
                client in
                ["debugToken": .string(debugToken(client.app))]
            }
        ],
        section: { app in
            "tokens: [{name: local, sha256: \(Hex.encode(DebugToken.hash(of: debugToken(app))))}]"
        },
        wrongSections: ["tokens: [{name: local, sha256: abc}] # wrong", "tokens: [{name: local}] # wrong"],
        secretTexts: TestApp.allCases.map { debugToken($0) }, simulator: DebugSimulator())

    private static func debugToken(_ app: TestApp) -> String { "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C1\(app.rawValue)" }

    /// Devices whose tokens a simulated Apple knows.
    static func deviceCheck() throws -> ProviderSubject {
        let team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        let tokens = KnownDeviceTokens()
        return ProviderSubject(
            exchanges: [
                Exchange(
                    "exchangeDeviceCheckToken", sharing: "a device token is made for all apps of a team"
                ) { _ in ["deviceToken": .string(tokens.make())] }
            ],
            section: { _ in "key_id: \(team.keyID)\nprivate_key: env:KEY" },
            wrongSections: [
                "key_id: \(team.keyID)\nprivate_key: env:MISSING # wrong",
                "key_id: short # wrong\nprivate_key: env:KEY",
            ],
            app: { _ in "apple: {team_id: ABCDE12345, bundle_id: com.example.app}" },
            secrets: SecretSource { $0.place == .environment("KEY") ? Array(team.privateKeyPEM.utf8) : nil },
            secretTexts: [team.privateKeyPEM], upstream: { tokens.answer($0) },
            simulator: DeviceCheckSimulator())
    }

    /// A reply that lacks something.
    private struct MissingField: Error, CustomStringConvertible {
        let description: String
    }
}
#endif
