import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayVerifier
import Testing

@Suite("Verifying tokens")
struct TokenVerifierTests {
    private static let now = Instant(seconds: 1_795_262_400)
    private static let expectation = TokenVerifier.Expectation(
        issuer: "https://firebaseappcheck.googleapis.com/1234567890", audience: "projects/example-project")

    private static let claims: JSON = [
        "sub": "1:1234567890:ios:321abc456def7890", "aud": ["projects/1234567890", "projects/example-project"],
        "provider": "app_attest", "iss": "https://firebaseappcheck.googleapis.com/1234567890",
        "exp": .integer(now.seconds + 3600), "iat": .integer(now.seconds), "jti": "an identifier",
    ]

    private let key: PrivateKey
    private let verifier: TokenVerifier

    init() throws {
        key = try PrivateKey.generate(.ec(.p256))
        verifier = TokenVerifier(keys: JWKSet([JWK(signing: key.publicKey, keyID: "k1")]))
    }

    private func token(_ claims: JSON, keyID: String = "k1", key: PrivateKey? = nil) throws -> String {
        try JWSSigner(key: key ?? self.key, keyID: keyID, algorithm: .es256).sign(payload: claims.encoded)
    }

    private func reason(_ token: String, now: Instant = now) -> String? {
        switch verifier.verify(token, Self.expectation, now: now) {
        case .verified: nil
        case .refused(let reason): reason.code
        }
    }

    /// The claims with one of them replaced, or left out.
    private static func claims(_ name: String, _ value: JSON?) -> JSON {
        .object((claims.members ?? []).filter { $0.name != name } + (value.map { [JSONMember(name, $0)] } ?? []))
    }

    @Test("A good token is verified, until it expires")
    func lifetime() throws {
        let token = try token(Self.claims)
        #expect(reason(token) == nil)
        #expect(reason(token, now: Self.now + .seconds(3600) - .milliseconds(1)) == nil)
        #expect(reason(token, now: Self.now + .seconds(3600)) == "token_expired")
        #expect(reason(token, now: Self.now - .seconds(30)) == nil)
        #expect(reason(token, now: Self.now - .seconds(31)) == "token_not_yet_valid")
    }

    @Test(
        "A token with wrong claims is refused for each of them",
        arguments: [
            ("iss", JSON.string("https://firebaseappcheck.googleapis.com/1"), "token_issuer"),
            ("iss", "https://firebaseappcheck.googleapis.com/12345678901", "token_issuer"),
            ("aud", ["projects/other"], "token_audience"), ("aud", "projects/example-project", "token_malformed"),
            ("aud", [], "token_audience"), ("sub", "", "token_malformed"), ("sub", nil, "token_malformed"),
            ("exp", nil, "token_malformed"), ("exp", "later", "token_malformed"), ("iat", nil, "token_malformed"),
            ("jti", nil, "token_malformed"), ("iss", nil, "token_malformed"),
            ("exp", .integer(.min), "token_expired"),
        ] as [(String, JSON?, String)])
    func claims(_ name: String, _ value: JSON?, _ expected: String) throws {
        #expect(reason(try token(Self.claims(name, value))) == expected)
    }

    @Test("A token by another key, of an unknown key, of another algorithm, or with another signature is refused")
    func signatures() throws {
        let other = try PrivateKey.generate(.ec(.p256))
        #expect(reason(try token(Self.claims, key: other)) == "token_signature")
        #expect(reason(try token(Self.claims, keyID: "k2")) == "token_key_unknown")
        let rsa = try PrivateKey.generate(.rsa(bits: 2048))
        let confused = try JWSSigner(key: rsa, keyID: "k1", algorithm: .rs256).sign(payload: Self.claims.encoded)
        #expect(reason(confused) == "token_algorithm")
        let none = "\(Base64.encodeURL(Array(#"{"kid":"k1","typ":"JWT","alg":"none"}"#.utf8)))"
        let parts = try token(Self.claims).split(separator: ".")
        #expect(
            reason("\(none).\(parts[1]).") == "token_algorithm" || reason("\(none).\(parts[1]).") == "token_malformed")
        #expect(reason("\(none).\(parts[1]).\(parts[2])") == "token_algorithm")
    }

    @Test("What is no token is refused as such, and the SDKs' placeholder by name")
    func rubbish() {
        #expect(reason(TokenVerifier.placeholder) == "token_placeholder")
        for text in [
            "", ".", "..", "a.b.c", "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10", String(repeating: "a.", count: 9000),
        ] {
            #expect(reason(text) == "token_malformed")
        }
    }

    @Test("A token whose header does not say that it is a JWT is refused")
    func type() throws {
        let header = Base64.encodeURL(Array(#"{"kid":"k1","alg":"ES256"}"#.utf8))
        let payload = Base64.encodeURL(Self.claims.encoded)
        let signature = try key.sign(Array("\(header).\(payload)".utf8), as: .raw)
        #expect(reason("\(header).\(payload).\(Base64.encodeURL(signature))") == "token_malformed")
    }

    @Test("Every reason that the kernel refuses with is provoked by a test of this folder")
    func allReasons() {
        let provoked: Set = [
            // ChallengeTests
            "challenge_malformed", "challenge_forged", "challenge_for_another_app", "challenge_expired",
            "challenge_not_yet_valid", "challenge_already_used",
            // This file
            "token_placeholder", "token_malformed", "token_algorithm", "token_key_unknown", "token_signature",
            "token_expired", "token_not_yet_valid", "token_issuer", "token_audience",
            // VerifyAppCheckTokenTests
            "token_app_unknown", "token_provider_unsupported", "token_provider_not_allowed", "token_for_development",
            // ProtectionTests
            "token_missing", "token_reused",
            // TokenDemandTests
            "token_repeated", "token_in_url", "token_not_limited_use", "token_too_old", "token_app_not_allowed",
            "token_of_oauth_client", "consumer_unknown", "actor_malformed", "actor_issuer_unknown", "actor_expired",
            "actor_invalid",
            // RateLimitTests
            "rate_limited",
            // RuleTests
            "rule_refused",
            // DenyListTests
            "evidence_denied", "token_denied",
        ]
        #expect(Set(KernelReasons.all.map(\.code)) == provoked)
        #expect(KernelReasons.all.count == provoked.count)
    }
}
