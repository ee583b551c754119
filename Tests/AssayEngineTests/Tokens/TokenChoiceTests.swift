import AssayCore
import AssayEngine
import AssayKit
import AssayVerifier
import Testing

@Suite("What an exchange may choose of its token")
struct TokenChoiceTests {
    private static let id = "order-0123456789"

    private let service: TestService

    init() throws {
        service = try TestService(plugins: [.provider(VouchProvider.self)], providers: "          vouch: {}")
    }

    private func claims(_ body: JSON, _ method: String = "exchangeWord") async throws -> JSON {
        let reply = try await service.call(method, TestService.app, body).result.get()
        let token = try #require(reply["token"]?.string)
        guard case .verified = try await service.verify(token) else {
            Issue.record("the token does not verify")
            return [:]
        }
        let claims = try JSON.claims(of: token)
        let lifetime = try #require(claims["exp"]?.integer) - #require(claims["iat"]?.integer)
        #expect(reply["ttl"]?.string == "\(lifetime)s")
        return claims
    }

    private func lifetime(_ claims: JSON) throws -> Int64 {
        try #require(claims["exp"]?.integer) - #require(claims["iat"]?.integer)
    }

    @Test("The identifier of a limited-use token is the caller's, where the method lets it choose")
    func chosenID() async throws {
        for id in [Self.id, String(repeating: "é", count: 125), "a b\"c\\d/e +0123456"] {
            #expect(try await claims(["jti": .string(id), "limitedUse": true])["jti"]?.string == id)
        }
        let random = try await claims(["limitedUse": true, "jti": ""])["jti"]?.string
        #expect(random?.utf8.count == 43)
        let body: JSON = ["jti": .string(Self.id), "limitedUse": true]
        #expect(try await claims(body, "exchangeWordWithoutTokenID")["jti"]?.string?.utf8.count == 43)
    }

    @Test(
        "An identifier of another length, with control characters, or for a session token is refused",
        arguments: [
            ["jti": .string(id)], ["jti": .string(id), "limitedUse": false],
            ["jti": .string(String(repeating: "a", count: 15)), "limitedUse": true],
            ["jti": .string(String(repeating: "a", count: 251)), "limitedUse": true],
            ["jti": .string(String(repeating: "é", count: 126)), "limitedUse": true],
            ["jti": "order\n0123456789", "limitedUse": true], ["jti": "order\u{85}0123456789", "limitedUse": true],
            ["jti": 1_234_567_890_123_456, "limitedUse": true],
        ] as [JSON])
    func refusedID(_ body: JSON) async throws {
        #expect(await service.call("exchangeWord", TestService.app, body).status == .invalidArgument)
    }

    @Test("A provider may say how long a session token lives; limited-use tokens live five minutes anyway")
    func lifetime() async throws {
        #expect(try lifetime(await claims(["life": "1800s"])) == 1800)
        #expect(try lifetime(await claims(["life": "604800s"])) == 604_800)
        #expect(try lifetime(await claims([:])) == 3600)
        #expect(try lifetime(await claims(["life": "7200s", "limitedUse": true])) == 300)
    }

    @Test("A life that no token can have is the provider's fault", arguments: ["0s", "1799s", "604801s", "1800.5s"])
    func impossibleLifetime(_ lifetime: String) async throws {
        #expect(
            await service.call("exchangeWord", TestService.app, ["life": .string(lifetime)]).status == .internalError)
    }
}
