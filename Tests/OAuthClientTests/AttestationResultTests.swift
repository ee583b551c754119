import AssayCore
import AssayKit
import AssayTesting
import Testing

@testable import AssayOAuthClient

@Suite("Attestation results")
struct AttestationResultTests {
    private static let audience = "https://relying-party.example.com"
    private let service: OAuthService

    init() throws {
        service = try OAuthService()
    }

    @Test("a token is exchanged for what it says of its app, in the words of RATS")
    func exchange() async throws {
        let reply = try await service.exchange(
            service.token(limitedUse: false), audience: Self.audience,
            ["eat_nonce": "0123456789", "requested_token_type": "application/eat+jwt"]
        ).get()
        #expect(reply["issued_token_type"] == "application/eat+jwt")
        #expect(reply["token_type"] == "N_A")
        #expect(reply["expires_in"] == 300)
        let claims = try await service.verified(try #require(reply["access_token"]?.string), type: "eat+jwt")
        #expect(claims["eat_profile"] == "tag:ietf.org,2026:rats/ear#03")
        #expect(claims["ear_verifier_id"]?["developer"] == "assay")
        #expect(claims["ear_verifier_id"]?["build"]?.string?.hasPrefix("assay ") == true)
        #expect(claims["eat_nonce"] == "0123456789")
        #expect(claims["aud"] == .string(Self.audience))
        #expect(claims["sub"] == .string(OAuthService.clientID))
        #expect(claims["ear_status"] == "warning")
        let appraisal = claims["submods"]?["app"]
        #expect(appraisal?["ear_status"] == "warning")
        #expect(appraisal?["ear_trustworthiness_vector"]?["executables"] == 32)
        #expect(appraisal?["ear_trustworthiness_vector"]?.members?.count == 8)
        #expect(claims["exp"] == .integer(service.clock.now.seconds + 300))
    }

    @Test("a result ends with its token at the latest")
    func ends() async throws {
        let token = try await service.token()
        service.clock.advance(by: .seconds(100))
        let reply = try await service.exchange(token, audience: Self.audience).get()
        #expect(reply["expires_in"] == 200)
        #expect(reply["issued_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
    }

    @Test("a nonce has 8 to 88 characters")
    func nonces() async throws {
        let texts: [JSON] = [
            "1234567", .string(String(repeating: "a", count: 89)), ["12345678", "12345678"],
        ]
        for nonce in texts {
            let failure = try await service.exchange(
                service.token(), audience: Self.audience, ["eat_nonce": nonce]
            ).failure
            #expect(failure?.reason == OAuthClientReasons.nonceInvalid)
            #expect(failure?.oauthError == "invalid_request")
        }
        _ = try await service.exchange(
            service.token(), audience: Self.audience, ["eat_nonce": .string(String(repeating: "a", count: 88))]
        ).get()
    }

    @Test("results are for relying parties that the policy names, and are nothing else")
    func audiences() async throws {
        let eat: JSON = ["requested_token_type": "application/eat+jwt"]
        #expect(
            try await service.exchange(service.token(), audience: OAuthService.server, eat).failure?.reason
                == OAuthClientReasons.partAbsent)
        let other: JSON = ["requested_token_type": "urn:ietf:params:oauth:token-type:id_token"]
        #expect(
            try await service.exchange(service.token(), audience: Self.audience, other).failure?.reason
                == OAuthClientReasons.typeNotOffered)
        let both = try OAuthService(
            """
            authorization_servers: [https://login.example.com]
            tokens: {accept_development: true}
            ear: {audiences: [https://login.example.com], dotted_names: true, policy_ids: [p], ttl: 10s}
            """)
        let reply = try await both.exchange(both.token(), eat).get()
        let claims = try await both.verified(try #require(reply["access_token"]?.string), type: "eat+jwt")
        #expect(claims["ear.status"] == "warning")
        #expect(claims["ear.verifier-id"]?["developer"] == "assay")
        let appraisal = claims["submods"]?["app"]
        #expect(appraisal?["ear.trustworthiness-vector"]?["hardware"] == 32)
        #expect(appraisal?["ear.appraisal-policy-ids"] == ["p"])
        #expect(try await both.exchange(both.token()).failure?.reason == OAuthClientReasons.partAbsent)
    }

    @Test("each provider's tokens say what they say, and no more", arguments: providers)
    func vectors(provider: String?, numbers: [TrustworthinessVector.Claim: Int], status: String) {
        let vector = TrustworthinessVector.standard(for: provider)
        #expect(vector.numbers == numbers)
        #expect(vector.status.name == status)
    }

    @Test("numbers lie in AR4SI's tiers", arguments: tiers)
    func tier(numbers: ClosedRange<Int>, name: String) {
        for number in numbers { #expect(TrustworthinessVector.Tier(number).name == name) }
    }

    @Test("a policy says what tokens of its own providers say")
    func overrides() async throws {
        let service = try OAuthService(
            """
            authorization_servers: [https://login.example.com]
            tokens: {accept_development: true}
            ear:
              audiences: [https://relying-party.example.com]
              providers: {debug: {sourced-data: 2, hardware: 96}}
            """)
        let reply = try await service.exchange(service.token(), audience: Self.audience).get()
        let claims = try await service.verified(try #require(reply["access_token"]?.string), type: "eat+jwt")
        #expect(claims["ear_status"] == "contraindicated")
        #expect(
            claims["submods"]?["app"]?["ear_trustworthiness_vector"]
                == .object(["hardware": 96, "sourced-data": 2]))
    }
}

private let providers: [(String?, [TrustworthinessVector.Claim: Int], String)] = [
    ("app_attest", [.instanceIdentity: 2, .hardware: 2, .executables: -2], "affirming"),
    ("device_check", [.instanceIdentity: 0, .hardware: 2], "affirming"),
    ("debug", Dictionary(uniqueKeysWithValues: TrustworthinessVector.Claim.allCases.map { ($0, 32) }), "warning"),
    ("custom", [:], "none"), ("mint", [:], "none"), (nil, [:], "none"),
]

private let tiers: [(ClosedRange<Int>, String)] = [
    (-128 ... -97, "contraindicated"), (-96 ... -33, "warning"), (-32 ... -2, "affirming"), (-1...1, "none"),
    (2...31, "affirming"), (32...95, "warning"), (96...127, "contraindicated"),
]
