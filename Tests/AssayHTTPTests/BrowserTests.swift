import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import Testing

@Suite("What browsers are told", .timeLimit(.minutes(20)))
struct BrowserTests {
    private static let exchange = "/v1/projects/p/apps/a:exchangeDebugToken"
    private static let origin = "Origin: https://app.example.com\r\n"
    private static let methods =
        FakeHandler.exchanges + [
            MethodDescriptor(
                name: "deletePart", kind: .call(.admin), resources: [.app],
                path: MethodPath(.delete, "/parts/{partId}")),
            MethodDescriptor(name: "mintAppCheckToken", kind: .call(.mintTokens), resources: [.app]),
        ]

    private func answer(
        _ request: String, origins: AllowedOrigins = .any, failure: CallFailure? = nil
    ) async throws -> RawReply {
        let handler = FakeHandler(methods: Self.methods) { call in
            failure.map { .failure($0) } ?? .success(FakeHandler.echo(call))
        }
        return try await TestGateway.answer(to: request, handler: handler, origins: origins)
    }

    private func preflight(_ target: String, _ verb: String, _ headers: String = "") -> String {
        "OPTIONS \(target) HTTP/1.1\r\nHost: a\r\n\(Self.origin)Access-Control-Request-Method: \(verb)\r\n\(headers)\r\n"
    }

    @Test("a script of any origin may call and read, by default, and no credentials are ever allowed")
    func any() async throws {
        let reply = try await answer(TestGateway.post(Self.exchange, "{}", headers: Self.origin))
        #expect(reply.status == 200)
        #expect(reply["access-control-allow-origin"] == "*")
        #expect(reply["access-control-expose-headers"]?.contains("retry-after") == true)
        #expect(reply["access-control-allow-credentials"] == nil)
    }

    @Test("what the JS SDK sends is allowed beforehand")
    func javaScript() async throws {
        let reply = try await answer(
            preflight(
                Self.exchange + "?key=k", "POST",
                "Access-Control-Request-Headers: content-type,x-firebase-client,X-Goog-Api-Key,authorization,cookie\r\n"
            ))
        #expect(reply.status == 204)
        #expect(reply.body.isEmpty)
        #expect(reply["content-length"] == nil)
        #expect(reply["access-control-allow-origin"] == "*")
        #expect(reply["access-control-allow-methods"] == "POST")
        #expect(reply["access-control-allow-headers"] == "content-type, x-firebase-client, x-goog-api-key")
        #expect(reply["access-control-max-age"] == "7200")
        #expect(reply["vary"] == "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
    }

    @Test("a header that a method reads is allowed beforehand, and the credentials that it needs can be read")
    func ownHeaders() async throws {
        var method = MethodDescriptor(name: "exchangeTicket", kind: .exchange(.alone), resources: [.app])
        method.binding = HTTPBinding(requestHeaders: [.init("authorization", "ticket")])
        let handler = FakeHandler(methods: [method]) { _ in
            .failure(
                CallFailure(
                    .unauthenticated, "A ticket is needed.", metadata: [.init("www-authenticate", "Ticket a=\"b\"")]))
        }
        let target = "/v1/projects/p/apps/a:exchangeTicket"
        let asked = try await TestGateway.answer(
            to: preflight(target, "POST", "Access-Control-Request-Headers: authorization,cookie\r\n"), handler: handler,
            origins: .any)
        #expect(asked["access-control-allow-headers"] == "authorization")
        let reply = try await TestGateway.answer(
            to: TestGateway.post(target, "{}", headers: Self.origin), handler: handler, origins: .any)
        #expect(reply["www-authenticate"] == "Ticket a=\"b\"")
        #expect(reply["access-control-expose-headers"]?.contains("www-authenticate") == true)
    }

    @Test("a request of two origins, of which one is listed, is one of none")
    func twoOrigins() async throws {
        let origins = AllowedOrigins.only(["https://app.example.com", "https://other.example.com"])
        for second in ["https://evil.example.com", "https://other.example.com", "https://app.example.com", ""] {
            let both = Self.origin + "Origin: \(second)\r\n"
            for headers in [both, "Origin: \(second)\r\n" + Self.origin] {
                let reply = try await answer(TestGateway.post(Self.exchange, "{}", headers: headers), origins: origins)
                #expect(reply["access-control-allow-origin"] == nil, "\(headers)")
                #expect(reply["vary"] == "Origin")
            }
            let asked = try await answer(
                preflight(Self.exchange, "POST", "Origin: \(second)\r\n"), origins: origins)
            #expect(asked.status == 405)
            #expect(asked["access-control-allow-origin"] == nil)
        }
    }

    @Test("of listed origins exactly these may, and caches are told to keep them apart")
    func listed() async throws {
        let origins = AllowedOrigins.only(["https://app.example.com"])
        let known = try await answer(TestGateway.post(Self.exchange, "{}", headers: Self.origin), origins: origins)
        #expect(known["access-control-allow-origin"] == "https://app.example.com")
        #expect(known["vary"] == "Origin")
        for other in [
            "https://app.example.com.evil.example", "http://app.example.com", "null", "https://APP.example.com",
        ] {
            let reply = try await answer(
                TestGateway.post(Self.exchange, "{}", headers: "Origin: \(other)\r\n"), origins: origins)
            #expect(reply.status == 200)
            #expect(reply["access-control-allow-origin"] == nil)
            #expect(reply["vary"] == "Origin")
        }
        let allowed = try await answer(preflight(Self.exchange, "POST"), origins: origins)
        #expect(allowed["access-control-allow-origin"] == "https://app.example.com")
        let refused = try await answer(
            preflight(Self.exchange, "POST").replacing("app.example.com", with: "evil.example"), origins: origins)
        #expect(refused.status == 405)
        #expect(refused["access-control-allow-origin"] == nil)
    }

    @Test("with no origins nothing is said")
    func none() async throws {
        let reply = try await answer(TestGateway.post(Self.exchange, "{}", headers: Self.origin), origins: .none)
        #expect(reply.status == 200)
        #expect(!reply.headers.contains { $0.name.hasPrefix("access-control") })
        #expect(try await answer(preflight(Self.exchange, "POST"), origins: .none).status == 405)
    }

    @Test("a script may read why it was refused")
    func refusals() async throws {
        let failure = CallFailure(.resourceExhausted, "Later.", retryAfter: .milliseconds(1500))
        let limited = try await answer(TestGateway.post(Self.exchange, "{}", headers: Self.origin), failure: failure)
        #expect(limited.status == 429)
        #expect(limited["retry-after"] == "2")
        #expect(limited["access-control-allow-origin"] == "*")
        let malformed = try await answer(TestGateway.post(Self.exchange, "{", headers: Self.origin))
        #expect(malformed.status == 400)
        #expect(malformed["access-control-allow-origin"] == "*")
    }

    @Test(
        "a script may read what its mistake was, also where there is no method for it",
        arguments: [
            (TestGateway.get("/nothing", headers: origin), 404), (TestGateway.get("/%zz", headers: origin), 400),
            (TestGateway.get(exchange, headers: origin), 405),
            (TestGateway.post(exchange, "{}", headers: origin + "Content-Encoding: gzip\r\n"), 415),
        ])
    func mistakes(request: String, status: Int) async throws {
        let reply = try await answer(request)
        #expect(reply.status == status)
        #expect(reply["access-control-allow-origin"] == "*")
        #expect(try await answer(request, origins: .only([]))["access-control-allow-origin"] == nil)
        let known = try await answer(request, origins: .only(["https://app.example.com"]))
        #expect(known["access-control-allow-origin"] == "https://app.example.com")
        let other = try await answer(request, origins: .only(["https://other.example"]))
        #expect(other["access-control-allow-origin"] == nil)
    }

    @Test(
        "where all methods demand a permission, or there is none, no mistake is explained",
        arguments: [
            [], [MethodDescriptor(name: "mintAppCheckToken", kind: .call(.mintTokens), resources: [.app])],
        ])
    func nothingOpen(methods: [MethodDescriptor]) async throws {
        for target in ["/nothing", "/v1/projects/p/apps/a:mintAppCheckToken", "/healthz"] {
            let reply = try await TestGateway.answer(
                to: TestGateway.get(target, headers: Self.origin), handler: FakeHandler(methods: methods))
            #expect(!reply.headers.contains { $0.name.hasPrefix("access-control") })
        }
    }

    @Test(
        "methods that demand a permission, and pages for operators, are not opened",
        arguments: [
            ("/v1/projects/p/apps/a/parts/x", "DELETE"), ("/v1/projects/p/apps/a:mintAppCheckToken", "POST"),
            ("/healthz", "GET"), ("/readyz", "GET"),
        ])
    func closed(target: String, verb: String) async throws {
        let asked = try await answer(preflight(target, verb))
        #expect(asked.status == 405 || asked.status == 404)
        #expect(!asked.headers.contains { $0.name.hasPrefix("access-control") })
        let reply = try await answer(
            "\(verb) \(target) HTTP/1.1\r\nHost: a\r\n\(Self.origin)Content-Length: 0\r\n\r\n")
        #expect(!reply.headers.contains { $0.name.hasPrefix("access-control") })
    }

    @Test("an OPTIONS to a method that takes any verb calls it: proxies would take a yes to a browser for their own")
    func anyVerb() async throws {
        let method = MethodDescriptor(
            name: "verifyRequest", kind: .call(nil), resources: [],
            rules: [HTTPRule(.any, "/verify/{backend}", version: .v1)])
        let handler = FakeHandler(methods: [method]) { _ in .failure(CallFailure(.unauthenticated, "Who are you?")) }
        let reply = try await TestGateway.answer(to: preflight("/verify/orders", "POST"), handler: handler)
        #expect(reply.status == 401)
        #expect(handler.calls.map(\.method) == ["verifyRequest"])
    }

    @Test(
        "an OPTIONS that is no question of a browser is refused as before",
        arguments: [
            "", "Origin: https://a.example\r\n", "Access-Control-Request-Method: POST\r\n",
            "Origin: https://a.example\r\nAccess-Control-Request-Method: BREW\r\n",
            "Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n",
        ])
    func options(headers: String) async throws {
        let reply = try await answer("OPTIONS \(Self.exchange) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n")
        #expect(reply.status == 405)
        #expect(reply["allow"] == "POST")
    }

    @Test(
        "an origin is a scheme, a host and perhaps a port",
        arguments: [
            ("https://app.example.com", true), ("http://localhost:3000", true), ("capacitor://localhost", true),
            ("https://[::1]:8443", true), ("https://app.example.com/", false), ("https://App.example.com", false),
            ("app.example.com", false), ("https://", false), ("https://a:b", false), ("https://a:", false),
            ("null", false), ("*", false), ("https://*.example.com", false), ("https://a\r\nb", false),
            ("https://a:443", false), ("http://a:80", false), ("https://a:65536", false), ("https://a:08080", false),
            ("https://a:0", false), ("http://a:443", true), ("https://a:65535", true),
        ])
    func form(text: String, isOrigin: Bool) {
        #expect(AllowedOrigins.isOrigin(text) == isOrigin)
    }
}
