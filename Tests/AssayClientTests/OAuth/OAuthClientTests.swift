import AssayCore
import Testing

@testable import AssayClient

@Suite("Requests of an OAuth client")
struct OAuthRequestTests {
    @Test(
        "a request has an attestation and proofs that an independent verifier accepts",
        arguments: [AuthorizationServer.Proofs.possessionAndDPoP, .possession, .combined])
    func proofs(kind: AuthorizationServer.Proofs) async throws {
        let scene = try OAuthScene(proofs: kind)
        scene.world.demand { $0.combined = kind == .combined }
        for _ in 0..<3 { #expect(try await scene.request([ClientHeader("dpop", "a caller's own")]) == 200) }
        #expect(scene.world.refusals.isEmpty)
        #expect(scene.world.count("/token") == 3)
        let names = try #require(scene.world.requests.last).headers.map(\.name)
        #expect(names.contains("OAuth-Client-Attestation-PoP") == (kind != .combined))
        #expect(names.contains("DPoP") == (kind != .possession))
    }

    @Test("a demanded challenge and nonce are answered with one request more for each, and are remembered")
    func demands() async throws {
        let scene = try OAuthScene()
        scene.world.demand { demands in
            demands.challenge = "challenge-1"
            demands.nonce = "nonce-1"
        }
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals == ["use_attestation_challenge", "use_dpop_nonce"])
        #expect(try await scene.request() == 200)
        #expect(scene.world.count("/token") == 4)
        scene.world.demand { $0.nonce = "nonce-2" }
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals.count == 3)
    }

    @Test("a proof that does for both answers the challenge in its nonce")
    func combined() async throws {
        let scene = try OAuthScene(proofs: .combined)
        scene.world.demand { demands in
            demands.combined = true
            demands.challenge = "challenge-1"
        }
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals == ["use_attestation_challenge"])
        scene.world.demand { demands in
            demands.challenge = nil
            demands.nonce = "nonce-1"
        }
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals == ["use_attestation_challenge", "use_dpop_nonce"])
    }

    @Test("a challenge endpoint is asked before the first request, and again when its challenge is refused")
    func challengeEndpoint() async throws {
        let scene = try OAuthScene(challengeEndpoint: "\(OAuthWorld.issuer)/challenge?a=b")
        scene.world.demand { $0.challenge = "challenge-1" }
        #expect(try await scene.request() == 200)
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals.isEmpty && scene.world.count("/challenge") == 1)
        scene.world.demand { $0.challenge = "challenge-2" }
        scene.world.next("/token") { _ in .json(400, ["error": "use_attestation_challenge"]) }
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals.isEmpty && scene.world.count("/challenge") == 2)
        scene.world.next("/token") { _ in .json(400, ["error": "use_attestation_challenge"]) }
        for body in [["attestation_challenge": "a b"], ["attestation_challenge": 7], [:]] as [JSON] {
            scene.world.next("/challenge") { _ in .json(200, body) }
            #expect(await clientError { _ = try await scene.request() }?.code == .malformedReply)
        }
        scene.world.next("/challenge") { _ in .json(503, [:]) }
        #expect(await clientError { _ = try await scene.request() }?.code == .unavailable)
    }

    @Test(
        "a server that never has enough gets each reason once, and the caller its answer",
        arguments: ["use_dpop_nonce", "use_attestation_challenge", "use_fresh_attestation", "invalid_client", "other"])
    func insatiable(error: String) async throws {
        let scene = try OAuthScene()
        for number in 0..<20 {
            scene.world.next("/token") { _ in
                .json(
                    400, ["error": .string(error)],
                    [
                        ClientHeader("DPoP-Nonce", "nonce-\(number)"),
                        ClientHeader("OAuth-Client-Attestation-Challenge", "challenge-\(number)"),
                    ])
            }
        }
        #expect(try await scene.request() == 400)
        let expected = ["use_dpop_nonce": 2, "use_attestation_challenge": 2][error] ?? 1
        #expect(scene.world.count("/token") == expected)
    }

    @Test("without a new nonce nothing is sent again")
    func noNonce() async throws {
        let scene = try OAuthScene()
        let headers = [
            [], [ClientHeader("DPoP-Nonce", "a b")], [ClientHeader("DPoP-Nonce", "\"")],
            [ClientHeader("DPoP-Nonce", String(repeating: "a", count: 1025))],
            [ClientHeader("DPoP-Nonce", "a"), ClientHeader("DPoP-Nonce", "b")],
        ]
        for headers in headers {
            scene.world.next("/token") { _ in .json(400, ["error": "use_dpop_nonce"], headers) }
            #expect(try await scene.request() == 400)
        }
        #expect(scene.world.count("/token") == headers.count)
    }

    @Test("a server that wants a fresher attestation gets a new one, unless it is younger than a minute")
    func freshAttestation() async throws {
        let scene = try OAuthScene()
        #expect(try await scene.request() == 200)
        scene.world.demand { $0.age = 3600 }
        scene.world.clock.advance(by: .minutes(61))
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals == ["use_fresh_attestation"])
        #expect(scene.world.count("/client-attestation") == 2)
        scene.world.demand { $0.age = -1 }
        #expect(try await scene.request() == 400)
        #expect(scene.world.count("/client-attestation") == 2)
    }

    @Test("a device whose clock is wrong by a century uses the servers' time, from their first answer on")
    func wrongClock() async throws {
        let scene = try OAuthScene()
        scene.world.demand { $0.hasDate = false }
        _ = try await scene.attestation()
        #expect(try await scene.request() == 400)
        scene.world.demand { $0.hasDate = true }
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals == ["invalid_client", "invalid_client"])
        scene.world.clock.advance(by: .minutes(600))
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals.count == 2)
        // The attester's time will do for a server that did not answer yet.
        let second = try OAuthScene()
        #expect(try await second.request() == 200)
        #expect(second.world.refusals.isEmpty)
    }

    @Test("a resource server gets the bound token with a proof for it, and its own nonce")
    func resourceServer() async throws {
        let scene = try OAuthScene()
        scene.world.demand { demands in
            demands.nonce = "nonce-of-login"
            demands.orderNonce = "nonce-of-orders"
        }
        #expect(try await scene.request() == 200)
        #expect(try await scene.orders() == 200)
        #expect(scene.world.refusals == ["use_dpop_nonce", "use_dpop_nonce"])
        #expect(try await scene.orders() == 200)
        #expect(try await scene.request() == 200)
        #expect(scene.world.refusals.count == 2)
        let last = try #require(scene.world.requests.last { $0.url.hasPrefix(OAuthWorld.orders) })
        #expect(!last.headers.contains { $0.name.hasPrefix("OAuth-Client") })
    }

    @Test("proofs and tokens are sent to nobody else")
    func insecure() async throws {
        let scene = try OAuthScene()
        for url in [
            "https://evil.example.com/token", "http://login.example.com/token", "https://login.example.com:444/token",
            "https://login.example.com/token#a", "", "login.example.com",
        ] {
            let error = await clientError { _ = try await scene.client.send(ClientRequest(url: url)) }
            #expect(error?.code == .insecure, "\(url)")
        }
        for (url, token, code) in [
            ("http://api.example.com/", "at-1", AppCheckError.Code.insecure),
            ("https://api.example.com/?token=at-1", "at-1", .insecure),
            ("https://api.example.com/", "a b", .invalidConfiguration),
            ("https://api.example.com/", "a\r\nb", .invalidConfiguration),
        ] {
            let error = await clientError {
                _ = try await scene.client.send(ClientRequest(url: url), accessToken: token)
            }
            #expect(error?.code == code, "\(url)")
        }
        #expect(scene.world.requests.isEmpty)
        scene.world.next("/token") { _ in
            ClientResponse(status: 307, headers: [ClientHeader("Location", "https://evil.example.com/")])
        }
        #expect(try await scene.request() == 307)
        #expect(scene.world.count("evil") == 0)
    }

    @Test("an authorization server is described by URLs that can be called")
    func configuration() async throws {
        for issuer in ["", "login.example.com", "http://login.example.com", "https://login.example.com?a"] {
            #expect(await clientError { _ = try AuthorizationServer(issuer: issuer) }?.code == .invalidConfiguration)
        }
        for url in ["x", "http://example.com"] {
            let both: [() throws -> AuthorizationServer] = [
                { try AuthorizationServer(issuer: "https://a.example.com", endpoints: [url]) },
                { try AuthorizationServer(issuer: "https://a.example.com", challengeEndpoint: url) },
            ]
            for make in both { #expect(await clientError { _ = try make() }?.code == .invalidConfiguration) }
        }
        let server = try AuthorizationServer(
            issuer: "https://a.example.com/tenant", endpoints: ["https://token.example.com/token"])
        for (url, isIts) in [
            ("https://a.example.com/other", true), ("https://token.example.com", true),
            ("https://b.example.com", false),
        ] {
            #expect(server.has(try #require(ServerAddress(url))) == isIts)
        }
    }

    @Test("requests at the same time share one attestation, and each has proofs of its own")
    func crowd() async throws {
        let scene = try OAuthScene()
        scene.world.demand { demands in
            demands.challenge = "challenge-1"
            demands.nonce = "nonce-1"
        }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask { try await number.isMultiple(of: 2) ? scene.request() : scene.orders() }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == [Int](repeating: 200, count: 100))
        #expect(scene.world.count("/client-attestation") == 1)
    }

    @Test("no answer, and one that is too large, are errors of the way", arguments: [false, true])
    func unreachable(isBound: Bool) async throws {
        let scene = try OAuthScene()
        struct Slow: Error {}
        scene.world.next(isBound ? "/orders" : "/token") { request in
            #expect(request.timeLimit == .seconds(30) && request.responseLimit == 65_536)
            throw Slow()
        }
        func send() async throws -> Int { try await isBound ? scene.orders() : scene.request() }
        #expect(await clientError { _ = try await send() }?.code == .unreachable)
        scene.world.next(isBound ? "/orders" : "/token") { _ in
            ClientResponse(status: 200, body: [UInt8](repeating: 0x20, count: 65_537))
        }
        #expect(await clientError { _ = try await send() }?.code == .malformedReply)
        #expect(try await send() == 200)
    }
}
