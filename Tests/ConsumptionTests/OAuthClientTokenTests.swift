import AssayCore
import AssayEngine
import AssayKit
import Testing

@Suite("Tokens of OAuth clients")
struct OAuthClientTokenTests {
    private func token(_ service: PlacesService, limitedUse: Bool = true) async throws -> String {
        // Only a provider issues tokens to OAuth clients; here one that takes a server's word.
        let reply = await service.call(
            "exchangeWord", ["limitedUse": .bool(limitedUse)], resource: "oauthClients/\(PlacesService.client)")
        return try #require(try reply.result.get()["token"]?.string)
    }

    @Test(
        "They open no backend, unless its policy says so or names the client",
        arguments: [
            ("plain", "token_of_oauth_client"), ("once", "token_of_oauth_client"), ("clients", nil), ("named", nil),
            ("open", nil), ("watched", nil),
        ] as [(String, String?)])
    func backends(_ backend: String, _ reason: String?) async throws {
        let service = try PlacesService()
        let reply = await service.call(
            "verifyRequest", ["backend": .string(backend)], token: try await token(service))
        #expect(reply.reason == reason)
        if reason != nil, case .failure(let failure) = reply.result { #expect(failure.status == .permissionDenied) }
        if backend == "watched" { #expect(try reply.result.get() == [:], "nothing is said of the client") }
        let app = await service.call(
            "verifyRequest", ["backend": .string(backend)], token: try await service.token())
        #expect(app.reason == (backend == "named" ? "token_app_not_allowed" : nil))
    }

    @Test(
        "They are good at services that say so, and at the one for OAuth clients",
        arguments: [
            ("plain.example.com", "token_of_oauth_client"), ("clients.example.com", nil),
            ("oauth2.googleapis.com", nil), ("watched.example.com", nil),
        ] as [(String, String?)])
    func services(_ id: String, _ reason: String?) async throws {
        let service = try PlacesService()
        let protection = await service.engine.protect(
            ProtectedRequest(project: "example-project", service: id, token: try await token(service)))
        if case .failure(let failure) = protection.result {
            #expect(failure.reason?.code == reason)
        } else {
            #expect(reason == nil)
        }
    }

    @Test("They are what authorization servers take, and no driver's")
    func others() async throws {
        let service = try PlacesService()
        #expect(try await Place.attestation.accepts(try await token(service), service))
        #expect(try await Place.attestationExchange.accepts(try await token(service), service))
        #expect(try await Place.verification.accepts(try await token(service), service))
        #expect(try await service.introspect(try await token(service)))
        let driver = await service.call(
            "fleetEngineDriverToken", ["vehicleId": "v"], token: try await token(service), as: service.user)
        #expect(driver.reason == "token_of_oauth_client")
    }
}
