import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import Testing

private let form = "Content-Type: application/x-www-form-urlencoded\r\n"

/// Bodies that are no form, or not a form of ours, and the status of the refusal.
private let badForms: [(body: String, headers: String, status: Int)] = [
    ("a=1", "", 400), ("a=1", "Content-Type: application/json\r\n", 400), ("{}", "Content-Type: text/plain\r\n", 400),
    ("a=%zz", form, 400), ("a=%FF", form, 400), ("a=%00", form, 400),
    ("a=1", form + "Content-Type: application/json\r\n", 400), ("a=1", form + "Content-Encoding: gzip\r\n", 415),
]

/// How the kernel fails, and what OAuth makes of it.
private let failures: [(CallFailure, Int, String)] = [
    (CallFailure(.invalidArgument, "a"), 400, "invalid_request"),
    (CallFailure(.invalidArgument, "a", oauthError: "invalid_target"), 400, "invalid_target"),
    (CallFailure(.unauthenticated, "a", oauthError: "invalid_request"), 400, "invalid_request"),
    (CallFailure(.permissionDenied, "a", oauthError: "invalid_target"), 400, "invalid_target"),
    (CallFailure(.notFound, "a", oauthError: "invalid_target"), 400, "invalid_target"),
    (CallFailure(.unauthenticated, "a"), 401, "invalid_client"),
    (CallFailure(.permissionDenied, "a"), 403, "unauthorized_client"),
    (CallFailure(.resourceExhausted, "a", retryAfter: .seconds(3)), 429, "temporarily_unavailable"),
    (CallFailure(.unavailable, "a", retryAfter: .seconds(3)), 503, "temporarily_unavailable"),
    (CallFailure(.unavailable, "a", oauthError: "invalid_request"), 503, "invalid_request"),
    (CallFailure(.internalError, "a"), 500, "server_error"),
]

/// A failure, and what a proxy gets for it.
private let bareFailures: [(StatusCode, Int)] = [
    (.unauthenticated, 401), (.permissionDenied, 403), (.notFound, 403), (.invalidArgument, 403), (.unavailable, 503),
    (.internalError, 503),
]

@Suite("Methods with a manner of their own", .timeLimit(.minutes(20)))
struct HTTPBindingTests {
    private static let oauth: MethodDescriptor = {
        var method = MethodDescriptor(
            name: "exchangeToken", kind: .call(nil), resources: [], rules: [HTTPRule(.post, "/token", version: .v1)])
        method.binding = .oauth
        return method
    }()

    private static let verify: MethodDescriptor = {
        var method = MethodDescriptor(
            name: "verifyRequest", kind: .call(nil), resources: [],
            rules: [HTTPRule(.any, "/verify", version: .v1), HTTPRule(.any, "/verify/{backend}", version: .v1)])
        method.takesToken = true
        method.binding = HTTPBinding(
            body: .ignored, errors: .bare, requestHeaders: [.init("x-original-uri", "originalUri")], verbField: "verb",
            replyHeaders: [.init("x-appcheck-app-id", "appId"), .init("x-appcheck-consumed", "consumed")],
            statusField: "status",
            statuses: [.invalidArgument: 403, .notFound: 403, .internalError: 503])
        return method
    }()

    private func handler(
        _ answer: @escaping @Sendable (Call) async -> Result<JSON, CallFailure> = { _ in .success([:]) }
    ) -> FakeHandler {
        FakeHandler(methods: [Self.oauth, Self.verify], answer: answer)
    }

    @Test("A form becomes a message, in which a parameter that is there twice is a list")
    func form() async throws {
        let handler = handler()
        let body = "grant_type=urn%3Aa&scope=a+b&resource=x&resource=y&empty="
        let request = TestGateway.post(
            "/token", body, headers: "Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n")
        let reply = try await TestGateway.answer(to: request, handler: handler)
        #expect(reply.status == 200)
        #expect(reply["cache-control"] == "no-store")
        #expect(
            handler.calls.first?.body
                == ["empty": "", "grant_type": "urn:a", "resource": ["x", "y"], "scope": "a b"])
        #expect(handler.calls.first?.token == nil)
    }

    @Test("What is no form is refused in the words of OAuth", arguments: badForms)
    func badForm(_ body: String, _ headers: String, _ status: Int) async throws {
        let handler = handler()
        let reply = try await TestGateway.answer(
            to: TestGateway.post("/token", body, headers: headers), handler: handler)
        #expect(reply.status == status)
        #expect(try reply.json["error"] == "invalid_request")
        #expect(handler.calls.isEmpty)
    }

    @Test("Failures have the status and the error that OAuth gives them", arguments: failures)
    func oauthErrors(_ failure: CallFailure, _ status: Int, _ error: String) async throws {
        let reply = try await TestGateway.answer(
            to: TestGateway.post("/token", "a=1", headers: Self.formHeader),
            handler: handler { _ in .failure(failure) })
        #expect(reply.status == status)
        #expect(try reply.json == ["error": .string(error), "error_description": "a"])
        #expect(reply["retry-after"] == (failure.retryAfter == nil ? nil : "3"))
        #expect((reply["www-authenticate"] != nil) == (status == 401))
    }

    private static let formHeader = "Content-Type: application/x-www-form-urlencoded\r\n"

    @Test("What a failure tells beside its message stands in headers, if it can")
    func metadata() async throws {
        let failure = CallFailure(
            .invalidArgument, "say \"it\"\u{7}", oauthError: "use_attestation_challenge",
            metadata: [
                .init("oauth-client-attestation-challenge", "abc"), .init("x-bad", "a\r\nset-cookie: b"),
                .init("x bad", "c"),
            ])
        let reply = try await TestGateway.answer(
            to: TestGateway.post("/token", "a=1", headers: Self.formHeader), handler: handler { _ in .failure(failure) }
        )
        #expect(reply["oauth-client-attestation-challenge"] == "abc")
        #expect(reply["x-bad"] == nil)
        #expect(reply["set-cookie"] == nil)
        #expect(try reply.json["error_description"] == "say 'it'?")
    }

    @Test("Each header is there, also empty, so that whoever copies them replaces a client's")
    func emptyHeaders() async throws {
        let reply = try await TestGateway.answer(to: TestGateway.get("/verify"), handler: handler())
        #expect(reply.status == 204)
        #expect(reply["x-appcheck-app-id"] == "")
        #expect(reply["x-appcheck-consumed"] == "")
    }

    @Test("What does not go into a header is no yes")
    func strangeText() async throws {
        let reply = try await TestGateway.answer(
            to: TestGateway.get("/verify"), handler: handler { _ in .success(["appId": "a\r\nb"]) })
        #expect(reply.status == 503)
    }

    @Test("Proxies get 401, 403 or 503, and nothing to read", arguments: bareFailures)
    func bare(_ code: StatusCode, _ status: Int) async throws {
        let reply = try await TestGateway.answer(
            to: TestGateway.get("/verify"), handler: handler { _ in .failure(CallFailure(code, "secret")) })
        #expect(reply.status == status)
        #expect(reply.body.isEmpty)
        #expect((reply["www-authenticate"] != nil) == (status == 401))
    }

    @Test("Headers become fields; a token stands in its header alone, and once")
    func headers() async throws {
        let handler = handler()
        for (headers, target) in [
            ("X-Original-URI: /a\r\nX-Firebase-AppCheck: t\r\n", "/verify"),
            (
                "X-Original-URI: /a\r\nX-Original-URI: /b\r\nX-Firebase-AppCheck: t\r\nx-firebase-appcheck: u\r\n",
                "/verify"
            ),
            ("", "/verify?x-firebase-appcheck=t"), ("X-Original-URI: /a?AppCheck_Token=t\r\n", "/verify"),
            ("X-Forwarded-Uri: /a?b&%61ppcheck=t\r\n", "/verify"), ("X-Original-URI: /a?b=appcheck\r\n", "/verify?c=d"),
        ] {
            #expect(
                try await TestGateway.answer(to: TestGateway.get(target, headers: headers), handler: handler).status
                    == 204)
        }
        #expect(handler.calls.map(\.token) == [.one("t"), .several, .inURL, .inURL, .inURL, nil])
        #expect(handler.calls[0].body == ["verb": "GET", "originalUri": "/a"])
        #expect(handler.calls[1].body["originalUri"] == ["/a", "/b"])
    }

    @Test("A path of any method is not one of a method that is called so")
    func star() async throws {
        let handler = handler()
        let reply = try await TestGateway.answer(
            to: TestGateway.post("/token", headers: "X-HTTP-Method-Override: *\r\n"), handler: handler)
        #expect(reply.status == 400)
        #expect(handler.calls.isEmpty)
    }
}
