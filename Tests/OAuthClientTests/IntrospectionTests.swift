import AssayCore
import AssayCrypto
import AssayKit
import AssayOAuthClient
import AssayTesting
import Testing

@Suite("Introspection")
struct IntrospectionTests {
    private let service: OAuthService

    init() throws {
        service = try OAuthService()
    }

    private func introspect(_ token: String, by service: OAuthService? = nil) async throws -> JSON {
        try await (service ?? self.service).call(
            "introspectToken", ["token": .string(token), "audience": .string(OAuthService.server)],
            as: OAuthService.caller
        ).get()
    }

    @Test("a token is described, and not used up")
    func active() async throws {
        let token = try await service.token()
        for _ in 0..<2 {
            let reply = try await introspect(token)
            #expect(reply["active"] == true)
            #expect(reply["sub"] == .string(OAuthService.clientID))
            #expect(reply["client_id"] == .string(OAuthService.clientID))
            #expect(reply["aud"] == ["projects/1234567890", "projects/example-project"])
            #expect(reply["iss"]?.string?.hasSuffix("1234567890") == true)
            #expect(reply["iat"] == .integer(service.clock.now.seconds))
            #expect(reply["exp"] == .integer(service.clock.now.seconds + 300))
            #expect(reply["jti"]?.string?.isEmpty == false)
            #expect(reply["token_type"] == "Bearer")
            #expect(reply["provider"] == "debug")
        }
        let key = ClientKey(try PrivateKey.generate(.ec(.p256)).publicKey).jwk
        _ = try await service.call("attestClient", ["jwk": key], token: token).get()
    }

    @Test("an app that is no client has no client ID")
    func apps() async throws {
        #expect(try await introspect(service.token(OAuthService.secondApp))["client_id"] == nil)
        let mapped = try await introspect(service.token(OAuthService.app))
        #expect(mapped["client_id"] == .string(OAuthService.mappedClient))
        #expect(mapped["sub"] == .string(OAuthService.appID))
    }

    @Test("a project may be asked by its own path")
    func project() async throws {
        let reply = try await service.call(
            "introspectProjectToken", ["token": .string(service.token())], resource: "projects/example-project",
            as: OAuthService.caller
        ).get()
        #expect(reply["active"] == true)
    }

    @Test("whatever is not good is not active, and nothing more is said")
    func inactive() async throws {
        let good = try await service.token()
        let foreign = try await service.token("projects/2/apps/1:2:ios:ab")
        for token in [
            "x", "a.b.c", good + "x", foreign, "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==",
            String(repeating: "a", count: 16_384),
        ] {
            #expect(try await introspect(token) == ["active": false])
        }
        service.clock.advance(by: .seconds(300))
        #expect(try await introspect(good) == ["active": false])
        let strict = try OAuthService(
            "authorization_servers: [https://login.example.com]\nintrospection: {}")
        #expect(try await introspect(strict.token(), by: strict) == ["active": false])
        let facts = strict.sink.records.last?.facts ?? []
        #expect(facts.contains(Fact(.introspected, .text("token_for_development"))))
    }

    @Test("a client of RFC 7662, which sends a token alone, is answered wherever it is clear whom it asks")
    func withoutAudience() async throws {
        func ask(_ token: String, _ service: OAuthService, as caller: String) async -> Result<JSON, CallFailure> {
            await service.call("introspectToken", ["token": .string(token)], as: caller)
        }
        // One section, with several audiences.
        let alone = service
        #expect(try await ask(alone.token(), alone, as: OAuthService.caller).get()["active"] == true)
        #expect(try await ask("x", alone, as: OAuthService.caller).get() == ["active": false])
        let two = try OAuthService(
            other: "authorization_servers: [https://other.example.com]\nintrospection: {accept_development: true}")
        // Of several, the token's own project.
        #expect(try await ask(two.token(), two, as: OAuthService.caller).get()["active"] == true)
        let foreign = try await two.token("projects/2/apps/1:2:ios:ab")
        #expect(try await ask(foreign, two, as: OAuthService.caller).get()["active"] == true)
        let facts = two.sink.records.last?.resource
        #expect(facts == "projects/2")
        // What names no project is not answered by guessing.
        let failure = await ask("x", two, as: OAuthService.caller).failure
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("the field 'audience' is missing") == true)
        // Whom a caller may ask about counts alone, and it learns nothing of others.
        #expect(try await ask(two.token(), two, as: OAuthService.tenant).get()["active"] == true)
        #expect(try await ask("x", two, as: OAuthService.tenant).get() == ["active": false])
        #expect(try await ask(foreign, two, as: OAuthService.tenant).get() == ["active": false])
    }

    @Test("one switch of the section says whether tokens for development are taken, unless a part says otherwise")
    func development() async throws {
        let head = "authorization_servers: [https://login.example.com]\n"
        for (section, isActive) in [
            ("tokens: {accept_development: true}\nintrospection: {}", true),
            ("tokens: {accept_development: true}\nintrospection: {accept_development: false}", false),
            ("tokens: {accept_development: false}\nintrospection: {accept_development: true}", true),
            ("introspection: {}", false),
        ] {
            let service = try OAuthService(head + section)
            #expect(try await introspect(service.token(), by: service)["active"] == .bool(isActive), "\(section)")
        }
    }

    @Test("a client attestation is described with its key, until it ends")
    func attestations() async throws {
        let key = ClientKey(try PrivateKey.generate(.ec(.p256)).publicKey)
        let reply = try await service.call("attestClient", ["jwk": key.jwk], token: service.token()).get()
        let attestation = try #require(reply["client_attestation"]?.string)
        let found = try await introspect(attestation)
        #expect(found["active"] == true)
        #expect(found["cnf"] == key.confirmation)
        #expect(found["client_id"] == .string(OAuthService.clientID))
        #expect(found["token_type"] == "N_A")
        service.clock.advance(by: .seconds(86_400))
        #expect(try await introspect(attestation) == ["active": false])
    }

    @Test("an attestation of another project is not active, though both projects call a client the same")
    func otherProject() async throws {
        let service = try OAuthService(
            otherProject: """
                consumers: {oauth_client: {authorization_servers: [https://other.example.com], attester: {}, \
                clients: {"\(OAuthService.otherAppID)": \(OAuthService.mappedClient)}, \
                tokens: {accept_development: true}}}
                """)
        let key = ClientKey(try PrivateKey.generate(.ec(.p256)).publicKey)
        for (app, isActive) in [
            (OAuthService.app, true), ("projects/2/apps/\(OAuthService.otherAppID)", false),
        ] {
            let token = try await service.token(app)
            let reply = try await service.call("attestClient", ["jwk": key.jwk], token: token).get()
            let attestation = try #require(reply["client_attestation"]?.string)
            let found = try await introspect(attestation, by: service)
            #expect(found["active"] == .bool(isActive), "\(app)")
            #expect(found["client_id"]?.string == (isActive ? OAuthService.mappedClient : nil), "\(app)")
        }
    }

    @Test("only callers with the permission ask, and a request names a token")
    func callers() async throws {
        for caller in [nil, OAuthService.outsider] {
            let failure = await service.call("introspectToken", ["token": "x"], as: caller).failure
            #expect([.unauthenticated, .permissionDenied].contains(failure?.status))
        }
        let failure = await service.call(
            "introspectToken", ["audience": .string(OAuthService.server)], as: OAuthService.caller
        ).failure
        #expect(failure?.message.contains("'token'") == true)
    }
}
