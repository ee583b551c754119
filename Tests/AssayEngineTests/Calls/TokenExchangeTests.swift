import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

private let jwt = "urn:ietf:params:oauth:token-type:jwt"

/// What is wrong with a request, and the error that says so.
private let badRequests: [(JSON, String?)] = [
    (["grant_type": nil], nil),
    (["grant_type": "client_credentials"], "unsupported_grant_type"),
    (["grant_type": ["urn:ietf:params:oauth:grant-type:token-exchange", "x"]], nil),
    (["subject_token": nil], nil),
    (["subject_token": ["a", "b"]], nil),
    (["subject_token_type": nil], nil),
    (["subject_token_type": "urn:ietf:params:oauth:token-type:saml2"], nil),
    (["actor_token": "x"], nil),
    (["actor_token_type": .string(jwt)], nil),
    (["actor_token": "x", "actor_token_type": "urn:ietf:params:oauth:token-type:saml1"], nil),
    (["audience": nil], nil),
    (["audience": "https://nobody.example.com/"], "invalid_target"),
    (["audience": ["https://parcels.example.com/", "https://other.example.com/"]], "invalid_target"),
    (["audience": ["https://parcels.example.com/", "https://parcels.example.com/"]], "invalid_target"),
    (["audience": nil, "resource": "https://nobody.example.com/1"], "invalid_target"),
    (["audience": nil, "resource": "https://parcels.example.com"], "invalid_target"),
    (["audience": nil, "resource": "x"], "invalid_target"),
    (["scope": .string(String(repeating: "a ", count: 65))], nil),
    (["resource": .array(Array(repeating: "https://parcels.example.com/1", count: 65))], nil),
]

/// RFC 8693.
@Suite("Token exchange")
struct TokenExchangeTests {
    @Test("A request that is not of the form of RFC 8693 is refused in its words", arguments: badRequests)
    func form(_ changes: JSON, _ error: String?) async throws {
        let service = try ParcelService()
        let reply = await service.exchange(try await service.token(), changes)
        #expect(reply.status == .invalidArgument)
        #expect(reply.oauthError == error)
    }

    @Test(
        "A token becomes what the consumer gives that the audience or the resource names",
        arguments: [
            [:], ["audience": nil, "resource": "https://parcels.example.com/a/b?c"],
            ["audience": nil, "resource": "https://parcels.example.com/"],
            ["audience": "https://parcels.example.com/", "resource": "https://elsewhere.example.com/"],
            ["subject_token_type": "urn:ietf:params:oauth:token-type:access_token"],
        ] as [JSON])
    func granted(_ changes: JSON) async throws {
        let service = try ParcelService()
        let reply = try await service.exchange(service.token(), changes).result.get()
        #expect(
            reply == [
                "access_token": .string("parcel of \(ParcelService.app) for nobody"), "issued_token_type": .string(jwt),
                "token_type": "N_A", "expires_in": 600,
            ])
        let record = try #require(service.sink.records.last)
        #expect(record.method == "exchangeToken")
        #expect(record.resource == "projects/1234567890")
        #expect(record.provider == "vouch")
        #expect(record.facts.contains(Fact("consumer", .text("parcel"))))
        #expect(record.facts.contains(Fact("app", .text(ParcelService.app))))
        #expect(record.facts.contains { $0.name == "token_id" })
    }

    @Test("A user's token binds the result to the user", arguments: ["JWT", "at+jwt", "application/at+jwt"])
    func actor(_ type: String) async throws {
        let service = try ParcelService(ParcelService.actors)
        let reply = try await service.exchange(
            service.token(), ["actor_token": .string(service.user(type: type)), "actor_token_type": .string(jwt)]
        ).result.get()
        #expect(reply["access_token"] == .string("parcel of \(ParcelService.app) for user-1"))
    }

    @Test("A user's token is refused where the policy trusts nobody's: it must not pass for one that is good")
    func untrustedActor() async throws {
        let service = try ParcelService()
        let reply = await service.exchange(
            try await service.token(), ["actor_token": .string(try service.user()), "actor_token_type": .string(jwt)])
        #expect(reply.reason == "actor_issuer_unknown")
        #expect(reply.oauthError == "invalid_request")
    }

    @Test("A user's token that is not of the characters of one is refused")
    func strangeActor() async throws {
        let service = try ParcelService(ParcelService.actors)
        for text in ["ä.b.c", "a b", "{}"] {
            let reply = await service.exchange(
                try await service.token(), ["actor_token": .string(text), "actor_token_type": .string(jwt)])
            #expect(reply.reason == "actor_malformed")
        }
    }

    @Test("A token of another project is told apart from one that is no good at all")
    func otherProject() async throws {
        let service = try ParcelService()
        let other = try await service.token(ParcelService.otherApp, in: "9876543210")
        #expect(await service.exchange(other).reason == "token_audience")
        #expect(await service.exchange("eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==").reason == "token_placeholder")
        #expect(await service.exchange("x.y.z").reason == "token_malformed")
        #expect(await service.exchange(try await service.token(debug: true)).reason == "token_for_development")
    }

    @Test(
        "What a consumer does wrong is a fault, and never a token",
        arguments: [
            ("undeclared", StatusCode.internalError), ("fact", .internalError), ("field", .internalError),
            ("lost", .unavailable),
        ])
    func faults(_ wish: String, _ status: StatusCode) async throws {
        let service = try ParcelService()
        let reply = await service.exchange(try await service.token(), ["scope": .string(wish)])
        #expect(reply.status == status)
        #expect(reply.reason == nil)
    }

    @Test("What a consumer refuses is refused for its reason")
    func refused() async throws {
        let service = try ParcelService()
        let reply = await service.exchange(try await service.token(), ["scope": "heavy"])
        #expect(reply.status == .permissionDenied)
        #expect(reply.reason == "parcel_too_heavy")
        #expect(reply.oauthError == "invalid_target")
    }
}
