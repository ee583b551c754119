import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

@Suite("Requests", .timeLimit(.minutes(20)))
struct RequestTests {
    private static let exchange = "/v1/projects/1/apps/1:2:ios:ab:exchangeDebugToken"

    @Test("a call reaches the kernel with its method, version, resource, body and peer", arguments: APIVersion.allCases)
    func call(version: APIVersion) async throws {
        let handler = FakeHandler()
        let target = "/\(version.rawValue)/projects/1/apps/1%3A2:ios:ab:exchangeDebugToken?alt=json&callback=f"
        let request = TestServer.post(
            target, #"{"debug_token":"a\/b"}"#, headers: "X-Forwarded-For: 9.9.9.9\r\nForwarded: for=9.9.9.9\r\n")
        let reply = try await TestServer.answer(to: request, handler: handler)

        #expect(reply.status == 200)
        #expect(reply["content-type"] == "application/json; charset=UTF-8")
        #expect(reply["cache-control"] == "no-store")
        #expect(reply["x-content-type-options"] == "nosniff")
        #expect(reply["x-assay-decision"] == "01DECISION")
        #expect(reply["date"]?.hasSuffix(" GMT") == true)
        #expect(reply["connection"] == nil)
        let call = try #require(handler.calls.first)
        #expect(call.method == "exchangeDebugToken")
        #expect(call.version == version)
        #expect(call.resource == "projects/1/apps/1:2:ios:ab")
        #expect(call.body == ["debug_token": "a/b"])
        #expect(call.peer == "127.0.0.1")
        #expect(try reply.json == FakeHandler.echo(call))
    }

    @Test(
        "no body is the empty message, whatever the headers say of it",
        arguments: [
            "POST \(exchange) HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST \(exchange) HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
            "POST \(exchange) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
            "POST \(exchange) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST \(exchange) HTTP/1.1\r\nHost: a\r\nContent-Encoding: identity\r\n\r\n",
            "POST http://a\(exchange) HTTP/1.0\r\n\r\n",
            "POST \(exchange) HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 4 \r\n\r\n{ }\n",
            "POST \(exchange) HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n1;x=y\r\n{\r\n1\r\n}\r\n0\r\nA: b\r\n\r\n",
        ])
    func emptyMessage(request: String) async throws {
        let handler = FakeHandler()
        #expect(try await TestServer.answer(to: request, handler: handler).status == 200)
        #expect(handler.calls.map(\.body) == [[:]])
    }

    @Test("the key set may be cached, and its head asked for alone", arguments: ["GET", "HEAD"])
    func keySet(verb: String) async throws {
        let handler = FakeHandler { _ in .success(["keys": []]) }
        let reply = try await TestServer.answer(to: "\(verb) /v1/jwks?x HTTP/1.1\r\nHost: a\r\n\r\n", handler: handler)
        #expect(reply.status == 200)
        #expect(reply["cache-control"] == "public, max-age=3600")
        #expect(reply["content-length"] == "11")
        #expect(reply.body == (verb == "HEAD" ? [] : Array(#"{"keys":[]}"#.utf8)))
        #expect(handler.calls.map(\.method) == ["jwks"])
    }

    @Test("the body of a GET is passed over")
    func bodyOfGet() async throws {
        let handler = FakeHandler()
        let request = "GET /v1/jwks HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n]]]"
        #expect(try await TestServer.answer(to: request, handler: handler).status == 200)
        #expect(handler.calls.map(\.body) == [[:]])
    }

    @Test(
        "what is no call is answered with an error in JSON, and does not reach the kernel",
        arguments: [
            (TestServer.get("/"), 404, "NOT_FOUND"),
            (TestServer.get("/index.html"), 404, "NOT_FOUND"),
            (TestServer.post("/v1/projects/1/apps/2:noSuchMethod"), 404, "NOT_FOUND"),
            (TestServer.post("/v1/projects/1%2F2/apps/2:exchangeDebugToken"), 404, "NOT_FOUND"),
            ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 404, "NOT_FOUND"),
            ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 404, "NOT_FOUND"),
            (TestServer.get("/v1/%zz"), 400, "INVALID_ARGUMENT"),
            (TestServer.get("/v1/%00"), 400, "INVALID_ARGUMENT"),
            (TestServer.get("/v1/%FF"), 400, "INVALID_ARGUMENT"),
            (TestServer.post("/v1/jwks"), 405, "UNIMPLEMENTED"),
            ("DELETE /v1/jwks HTTP/1.1\r\nHost: a\r\n\r\n", 405, "UNIMPLEMENTED"),
            (TestServer.get(exchange), 405, "UNIMPLEMENTED"),
            (TestServer.post(exchange, "[]"), 400, "INVALID_ARGUMENT"),
            (TestServer.post(exchange, "{\"a\":"), 400, "INVALID_ARGUMENT"),
            (TestServer.post(exchange, " "), 400, "INVALID_ARGUMENT"),
            (TestServer.post(exchange, "{}", headers: "Content-Encoding: gzip\r\n"), 415, "INVALID_ARGUMENT"),
            (TestServer.post(exchange, "{}", headers: "Content-Encoding: identity, br\r\n"), 415, "INVALID_ARGUMENT"),
        ])
    func refused(request: String, status: Int, code: String) async throws {
        let handler = FakeHandler()
        let reply = try await TestServer.answer(to: request, handler: handler)
        #expect(reply.status == status)
        #expect(try reply.error("status") == .string(code))
        #expect(try reply.error("details") == nil)
        #expect(reply["x-assay-decision"] == nil)
        #expect(reply["cache-control"] == "no-store")
        #expect(handler.calls.isEmpty)
    }

    @Test("a path that is there for other HTTP methods says for which")
    func allow() async throws {
        #expect(try await TestServer.answer(to: TestServer.post("/v1/jwks"))["allow"] == "GET, HEAD")
        #expect(try await TestServer.answer(to: TestServer.get(Self.exchange))["allow"] == "POST")
    }

    @Test("nothing of the request is in an error")
    func noReflection() async throws {
        let reply = try await TestServer.answer(to: TestServer.get("/<script>alert(1)</script>?<script>"))
        #expect(reply.status == 404)
        #expect(try reply.error("message") == "Method not found.")
    }

    @Test("an error in the body's JSON is told with its place")
    func place() async throws {
        let reply = try await TestServer.answer(to: TestServer.post(Self.exchange, #"{"a":tru}"#))
        #expect(try reply.error("message")?.string?.hasSuffix("(at byte 5).") == true)
    }

    @Test("the process is alive whatever the kernel says, and ready when the kernel is")
    func health() async throws {
        let handler = FakeHandler(readiness: .notReady("the store is down"))
        for verb in ["GET", "HEAD"] {
            let alive = try await TestServer.answer(to: "\(verb) /livez HTTP/1.1\r\nHost: a\r\n\r\n", handler: handler)
            #expect(alive.status == 200)
            #expect(verb == "HEAD" || alive.body == Array(#"{"status":"ok"}"#.utf8))
        }
        let notReady = try await TestServer.answer(
            to: TestServer.get("/readyz"), handler: handler, pages: HTTPPages(showsDetail: true))
        #expect(notReady.status == 503)
        #expect(try notReady.error("status") == "UNAVAILABLE")
        #expect(try notReady.error("message") == "the store is down")
        let ready = try await TestServer.answer(to: TestServer.get("/readyz"))
        #expect(ready.status == 200)
        #expect(ready.body == Array(#"{"status":"ok"}"#.utf8))
        #expect(handler.calls.isEmpty)
    }
}
