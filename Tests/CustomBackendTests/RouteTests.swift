import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

private let routes = """
    tokens: {accept_development: true}
    backends:
      orders:
        original_request: x-original
        routes:
          - {path: /health, tokens: {enforcement: "OFF"}}
          - {path: /payments/open/*, tokens: {}}
          - {path: /payments/*, methods: [POST, PUT], tokens: {limited_use: true}}
          - {path: /reports/*, methods: [GET], tokens: {limited_use: true}}
          - {path: /admin*, tokens: {apps: ["\(VerifyService.secondApp)"]}}
    """

/// What a client asks for, and why a session token of the first app is not enough; nil where it is.
private let requests: [(String, String, String?)] = [
    ("GET", "/", nil), ("GET", "/payments/1", nil), ("GET", "/PAYMENTS", nil),
    ("POST", "/payments/open/1", nil), ("DELETE", "/payments/1", nil), ("POST", "/reports/1", nil),
    ("GET", "/?/payments/1", nil), ("POST", "/x?/payments/1", nil),
    ("POST", "/payments/1", "token_not_limited_use"), ("PUT", "/payments/", "token_not_limited_use"),
    ("post", "/payments/1", "token_not_limited_use"), ("POST", "/payments/1?x=1", "token_not_limited_use"),
    ("POST", "/p%61yments/1", "token_not_limited_use"),
    // There are backends that take no notice of letter case, or of a slash at the end.
    ("POST", "/payments", "backend_target_ambiguous"), ("POST", "/PAYMENTS/1", "backend_target_ambiguous"),
    ("POST", "/payments/open", "backend_target_ambiguous"), ("GET", "/Health", "backend_target_ambiguous"),
    ("GET", "/health/", "backend_target_ambiguous"), ("GET", "/ADMIN", "backend_target_ambiguous"),
    ("GET", "/reports/1", "token_not_limited_use"), ("HEAD", "/reports/1", "token_not_limited_use"),
    ("GET", "/admin", "token_app_not_allowed"), ("GET", "/administrators", "token_app_not_allowed"),
    ("POST", "/payments/../payments/1", "backend_target_ambiguous"),
    ("POST", "//payments/1", "backend_target_ambiguous"),
    ("POST", "/payments%2f1", "backend_target_ambiguous"), ("POST", "payments/1", "backend_target_ambiguous"),
    ("POST", "", "backend_target_ambiguous"), ("", "/", "backend_target_ambiguous"),
]

/// What a proxy tells in each way, and why a session token is not enough for a route of payments told in that way.
private let tellings: [(String, JSON, String?)] = [
    ("x-original", ["originalMethod": "POST", "originalUri": "/payments/1"], "token_not_limited_use"),
    ("x-original", ["originalMethod": "POST", "originalUri": "/x", "forwardedUri": "/payments/1"], nil),
    (
        "x-original",
        [
            "originalMethod": "POST", "originalUri": "/payments/1", "forwardedUri": "/x", "forwardedMethod": "GET",
            "uri": "/x", "method": "GET",
        ], "token_not_limited_use"
    ),
    ("x-original", ["forwardedMethod": "POST", "forwardedUri": "/x"], "backend_target_missing"),
    ("x-original", ["method": "POST", "uri": "/x"], "backend_target_missing"),
    ("x-original", ["originalUri": "/x", "forwardedMethod": "POST"], "backend_target_missing"),
    ("x-original", ["originalMethod": "POST"], "backend_target_missing"),
    ("x-original", ["originalUri": "/x"], "backend_target_missing"),
    ("x-original", [:], "backend_target_missing"),
    ("x-original", ["originalMethod": "POST", "originalUri": ["/x", "/payments/1"]], "backend_target_ambiguous"),
    ("x-original", ["originalMethod": "POST", "originalUri": ["/x", "/x"]], "backend_target_ambiguous"),
    ("x-original", ["originalMethod": ["GET", "POST"], "originalUri": "/x"], "backend_target_ambiguous"),
    ("x-forwarded", ["forwardedMethod": "POST", "forwardedUri": "/payments/1"], "token_not_limited_use"),
    (
        "x-forwarded",
        [
            "forwardedMethod": "POST", "forwardedUri": "/payments/1", "originalUri": "/x", "originalMethod": "GET",
        ], "token_not_limited_use"
    ),
    ("x-forwarded", ["originalMethod": "POST", "originalUri": "/x"], "backend_target_missing"),
    ("x-forwarded", ["forwardedMethod": "POST", "forwardedUri": ["/x", "/y"]], "backend_target_ambiguous"),
    ("transport", ["method": "POST", "uri": "/payments/1"], "token_not_limited_use"),
    ("transport", ["method": "POST", "uri": "/x", "originalUri": "/payments/1"], nil),
    (
        "transport",
        ["originalMethod": "POST", "originalUri": "/x", "forwardedMethod": "POST", "forwardedUri": "/x"],
        "backend_target_missing"
    ),
]

@Suite("Routes of backends")
struct RouteTests {
    @Test("The first route that fits chooses the demand, and without one the backend's own holds", arguments: requests)
    func demands(_ method: String, _ uri: String, _ reason: String?) async throws {
        let service = try VerifyService(routes)
        let reply = await service.ask("orders", try await service.token(), method, uri)
        #expect(reply.reason == reason)
        #expect(reply.status == (reason == nil ? nil : .permissionDenied))
        let basis = try #require(service.sink.records.last).basis
        #expect(basis == .verified, "each decision about a genuine token has a record")
    }

    @Test("What meets the demand of a route passes it")
    func met() async throws {
        let service = try VerifyService(routes)
        let limited = try await service.token(limitedUse: true)
        #expect(await service.ask("orders", limited, "POST", "/payments/1").status == nil)
        let second = try await service.token(VerifyService.secondApp)
        #expect(await service.ask("orders", second, "GET", "/admin/1").status == nil)
        #expect(await service.ask("orders", nil, "GET", "/health").status == nil)
        #expect(await service.ask("orders", nil, "GET", "/health/1").reason == "token_missing")
    }

    @Test("A request that is refused for its target does not use up its token")
    func refusedTarget() async throws {
        let service = try VerifyService(routes)
        let limited = try await service.token(limitedUse: true)
        for path in ["/payments/../payments/1", "/PAYMENTS/1", ""] {
            #expect(await service.ask("orders", limited, "POST", path).reason == "backend_target_ambiguous")
        }
        #expect(await service.ask("orders", limited).reason == "backend_target_missing")
        #expect(await service.ask("orders", limited, "POST", "/payments/1").status == nil)
        #expect(await service.ask("orders", limited, "POST", "/payments/1").reason == "token_reused")
    }

    @Test("Only the proxy's way of telling has a say, whatever else its client sends", arguments: tellings)
    func source(_ source: String, _ told: JSON, _ reason: String?) async throws {
        let service = try VerifyService(routes.replacing("x-original", with: source))
        let reply = await service.ask("orders", try await service.token(), told)
        #expect(reply.reason == reason)
    }

    @Test(
        "What is not told, or can be read in several ways, is refused at every level",
        arguments: ["\"OFF\"", "UNENFORCED", "ENFORCED"])
    func unclear(_ level: String) async throws {
        let service = try VerifyService(
            routes.replacing("{accept_development: true}", with: "{accept_development: true, enforcement: \(level)}"))
        let unclear: [(JSON, String)] = [
            ([:], "backend_target_missing"),
            (["originalMethod": "GET", "originalUri": "/a//b"], "backend_target_ambiguous"),
            (["originalMethod": "GET", "originalUri": ["/a", "/b"]], "backend_target_ambiguous"),
        ]
        for (told, reason) in unclear {
            let reply = await service.ask("orders", try await service.token(), told)
            #expect(reply.reason == reason)
            #expect(reply.status == .permissionDenied)
            // A token would not have helped: the reason is the request, also where the token is missing or invalid.
            for token in [nil, PresentedToken.one("x")] {
                let reply = await service.ask("orders", token, told)
                #expect(reply.reason == reason)
                #expect(reply.status == .permissionDenied)
                let record = try #require(service.sink.records.last)
                #expect(record.unenforced == nil)
                #expect(record.facts.contains { $0.name.text == "request_path" } == (told["originalUri"] != nil))
            }
        }
    }

    @Test("A backend without routes needs not be told anything")
    func without() async throws {
        let service = try VerifyService("tokens: {accept_development: true}\nbackends: {orders: {}}")
        for told in [[:], ["originalUri": "//"], ["originalUri": ["/a", "/b"]]] as [JSON] {
            #expect(await service.ask("orders", try await service.token(), told).status == nil)
        }
    }

    @Test("A limited-use token is used up by whatever route it is shown to")
    func consumption() async throws {
        let service = try VerifyService(routes)
        let token = try await service.token(limitedUse: true)
        let reply = try await service.ask("orders", token, "POST", "/payments/1").result.get()
        #expect(reply["consumed"] == true)
        for (method, path) in [("POST", "/payments/1"), ("GET", "/x")] {
            let again = await service.ask("orders", token, method, path)
            #expect(again.reason == "token_reused")
            #expect(again.status == .permissionDenied)
        }
    }

    @Test("Replay protection of a route uses a session token up for it, and for no other route")
    func replayProtection() async throws {
        let service = try VerifyService(
            """
            tokens: {accept_development: true}
            backends:
              orders:
                original_request: x-original
                routes: [{path: /once, tokens: {replay_protection: ENFORCED}}]
            """)
        let token = try await service.token()
        for _ in 0..<2 {
            let reply = try await service.ask("orders", token, "GET", "/x").result.get()
            #expect(reply["consumed"] == false)
        }
        #expect(try await service.ask("orders", token, "GET", "/once").result.get()["consumed"] == true)
        #expect(await service.ask("orders", token, "GET", "/once").reason == "token_reused")
        #expect(await service.ask("orders", token, "GET", "/x").status == nil)
    }

    @Test("Of fifty requests at once with one token, one passes")
    func concurrent() async throws {
        let service = try VerifyService(routes)
        let token = try await service.token(limitedUse: true)
        let passed = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask { await service.ask("orders", token, "POST", "/payments/1").status == nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(passed == 1)
    }
}
