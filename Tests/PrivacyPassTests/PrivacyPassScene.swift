import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayPrivacyPass
import AssayPrivateToken
import AssayTesting
import Testing

/// A server with an app that gets private tokens, and apps of another project that accept them.
struct PrivacyPassScene {
    /// The app of the first project: App Attest, debug tokens and the issuer.
    static let phone = TestApp.first.resource()
    /// The app of the second project, which accepts private tokens of both kinds.
    static let site = "projects/9876543210/apps/1:9876543210:web:00000000000000b1"
    /// Another app of it, with the same issuers and origins.
    static let otherSite = "projects/9876543210/apps/1:9876543210:web:00000000000000b2"
    static let origins = "site.example.com,www.example.com"
    static let debugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C11"

    let issuer: SimulatedTokenIssuer
    let former: SimulatedTokenIssuer
    let device: SimulatedDevice
    let engine: TestEngine

    /// - Parameters:
    ///   - contexts: which tokens the sites accept.
    ///   - issuing: further keys of the issuer's section.
    init(contexts: String = "[per_challenge, none]", issuing: String = "batch: 4\ndaily_batches: 2") throws {
        let issuer = try SimulatedTokenIssuer()
        let former = try SimulatedTokenIssuer(name: "former.example.com")
        let authority = try SimulatedAppleCA(at: ManualClock().now)
        (self.issuer, self.former) = (issuer, former)
        device = SimulatedDevice(authority: authority)
        engine = try TestEngine(
            [
                .provider(AppAttestProvider.self), .provider(DebugProvider.self), .provider(PrivacyPassProvider.self),
                .consumer(PrivateTokenConsumer.self),
            ],
            policy: Self.policy(issuer, former, authority, contexts: contexts, issuing: issuing),
            secrets: SecretSource {
                switch $0.place {
                case .environment("KEY"): Array(issuer.privateKeyPEM.utf8)
                case .environment("PUBLIC"):
                    try? PublicKey.rsa(BlindRSAPublicKey(subjectPublicKeyInfo: issuer.tokenKey).key).pem()
                default: nil
                }
            })
    }

    private static func policy(
        _ issuer: SimulatedTokenIssuer, _ former: SimulatedTokenIssuer, _ authority: SimulatedAppleCA, contexts: String,
        issuing: String
    ) -> String {
        let root = authority.rootCertificatePEM.replacing("\n", with: "\\n")
        let site = """
            {issuers: [{name: \(issuer.name), keys: [{token_key: "\(Base64.encode(issuer.tokenKey))"}]},
            {name: \(former.name), keys: [{token_key: "\(Base64.encode(former.tokenKey))", until: "2026-01-01T00:00:00Z"}]}],
            origins: [site.example.com, www.example.com], contexts: \(contexts)}
            """.replacing("\n", with: " ")
        // The issuer's public key as OpenSSL derives it from the private one.
        let derived = site.replacing("token_key: \"\(Base64.encode(issuer.tokenKey))\"", with: "file: \"env:PUBLIC\"")
        let lines = issuing.split(separator: "\n").map { "          \($0)" }.joined(separator: "\n")
        return """
            tokens: {algorithm: ES256}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: \(TestApp.first.id())
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers:
                      app_attest: {key_in_tokens: true, receipts: ignored, trust_anchor: "\(root)"}
                      debug: {tokens: [{name: local, sha256: \(Hex.encode(DebugToken.hash(of: debugToken)))}]}
                  - id: 1:1234567890:web:00000000000000c1
                    providers:
                      privacy_pass: \(site)
                consumers:
                  private_token:
                      issuer: \(issuer.name)
                      keys: [{private_key: "env:KEY", not_before: "2026-01-01T00:00:00Z"}]
                      tokens: {accept_development: true}
            \(lines)
              - number: 9876543210
                id: other-project
                apps:
                  - id: 1:9876543210:web:00000000000000b1
                    providers:
                      privacy_pass: \(site)
                  - id: 1:9876543210:web:00000000000000b2
                    providers:
                      privacy_pass: \(derived)
            """
    }

    /// A challenge for a site, and the context that tokens for it must have.
    func challenge() async throws -> (text: JSON, context: [UInt8]) {
        let bytes = try await engine.challenge("generatePrivacyPassChallenge", Self.site)
        return (.string(Base64.encode(bytes)), SHA256.hash(bytes))
    }

    func tokenChallenge(_ context: [UInt8] = [], issuer: String? = nil, origins: String = origins) -> [UInt8] {
        SimulatedTokenText.challenge(issuer: issuer ?? self.issuer.name, redemption: context, origins: origins)
    }

    /// Exchanges a token that clients keep.
    func spend(_ token: [UInt8], at site: String = site) async -> Reply {
        await engine.call(
            "exchangeCachedPrivacyPassToken", site,
            ["privateToken": .string(SimulatedTokenText.authorization(token))])
    }

    /// Exchanges a token for a challenge.
    func exchange(_ token: [UInt8], _ challenge: JSON) async -> Reply {
        await engine.call(
            "exchangePrivacyPassToken", Self.site,
            ["challenge": challenge, "privateToken": .string(SimulatedTokenText.authorization(token))])
    }

    /// A token of an attested key of the device's, as App Attest's clients get it.
    func attestedToken() async throws -> String {
        let keyID = try device.generateKey()
        let challenge = try await engine.challenge("generateAppAttestChallenge", Self.phone)
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge),
            app: SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .production), at: engine.clock.now)
        let reply = await engine.call(
            "exchangeAppAttestAttestation", Self.phone,
            [
                "key_id": .string(keyID), "attestation_statement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)),
            ])
        return try #require(reply.result.get()["appCheckToken"]?["token"]?.string)
    }

    /// Asks for blind signatures.
    func issue(_ requests: [[UInt8]], token: String?) async -> Reply {
        await engine.call(
            "issuePrivateTokens", "", ["tokenRequests": .array(requests.map { .string(Base64.encode($0)) })],
            token: token)
    }

    func orders(_ count: Int, for challenge: [UInt8]? = nil) throws -> [SimulatedTokenOrder] {
        try (0..<count).map { _ in
            try SimulatedTokenOrder(for: challenge ?? tokenChallenge(), tokenKey: issuer.tokenKey)
        }
    }
}

extension Reply {
    /// Why the request was refused; nil for any other answer.
    var reason: Reason? {
        if case .failure(let failure) = result { failure.reason } else { nil }
    }

    var status: StatusCode? {
        if case .failure(let failure) = result { failure.status } else { nil }
    }
}
