import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import Testing

@Suite("Messages from paths, queries and headers", .timeLimit(.minutes(20)))
struct MessageTests {
    private static let methods = [
        MethodDescriptor(
            name: "batchGet", kind: .call(.admin), resources: [.project],
            path: MethodPath(.get, "/apps/-/config:batchGet", query: ["names", "pageSize"])),
        MethodDescriptor(
            name: "patchPart", kind: .call(.admin), resources: [.app],
            path: MethodPath(.patch, "/parts/{partId}", body: .field("part"), query: ["updateMask"])),
        MethodDescriptor(
            name: "deletePart", kind: .call(.admin), resources: [.app],
            path: MethodPath(.delete, "/parts/{partId}", query: ["etag"])),
    ]

    private func call(_ request: String, status: Int = 200) async throws -> Call? {
        let handler = FakeHandler(methods: Self.methods)
        #expect(try await TestGateway.answer(to: request, handler: handler).status == status)
        return handler.calls.first
    }

    @Test("a query gives the fields that the rule names, and nothing else")
    func query() async throws {
        let call = try await call(
            "GET /v1/projects/1/apps/-/config:batchGet?names=a%2Fb&alt=json&names=c+d&page_size=3&key=k HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        #expect(call?.method == "batchGet")
        #expect(call?.resource == "projects/1")
        #expect(call?.body == ["names": ["a/b", "c d"], "pageSize": "3"])
    }

    @Test("a body that is one field stands beside the path's and the query's")
    func field() async throws {
        let body = #"{"display_name":"x"}"#
        let call = try await call(
            "PATCH /v1/projects/1/apps/a:b/parts/p?updateMask=display_name HTTP/1.1\r\nHost: a\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(call?.resource == "projects/1/apps/a:b")
        #expect(call?.body == ["part": ["display_name": "x"], "partId": "p", "updateMask": "display_name"])
    }

    @Test("a GET too long for a request line comes as a POST with a form")
    func override() async throws {
        let form = "names=a%2Fb&names=c"
        let call = try await call(
            "POST /v1/projects/1/apps/-/config:batchGet HTTP/1.1\r\nHost: a\r\nX-HTTP-Method-Override: GET\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n\(form)"
        )
        #expect(call?.body == ["names": ["a/b", "c"]])
    }

    @Test("a DELETE finds its method", arguments: ["", "?etag=%22x%22"])
    func delete(query: String) async throws {
        let call = try await call("DELETE /v1/projects/1/apps/a/parts/p\(query) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(call?.method == "deletePart")
        #expect(call?.body == (query.isEmpty ? ["partId": "p"] : ["partId": "p", "etag": "\"x\""]))
    }

    @Test(
        "what is broken is refused",
        arguments: [
            "GET /v1/projects/1/apps/-/config:batchGet?names=%zz HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /v1/projects/1/apps/-/config:batchGet?names=%FF HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /v1/projects/1/apps/-/config:batchGet?\(String(repeating: "a&", count: 300)) HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST /v1/projects/1/apps/-/config:batchGet HTTP/1.1\r\nHost: a\r\nX-HTTP-Method-Override: BREW\r\n\r\n",
        ])
    func broken(request: String) async throws {
        #expect(try await call(request, status: 400) == nil)
    }

    @Test(
        "one bearer token is handed on, anything else is none",
        arguments: [
            ("Authorization: Bearer abc\r\n", "abc"), ("authorization: bEARER  a.b-c_d~e+f/g==\r\n", "a.b-c_d~e+f/g=="),
            ("Authorization: Basic abc\r\n", nil), ("Authorization: Bearer\r\n", nil),
            ("Authorization: Bearer a b\r\n", nil), ("Authorization: Bearer a,b\r\n", nil),
            ("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", nil), ("", nil),
        ] as [(String, String?)])
    func bearer(header: String, token: String?) async throws {
        let call = try await call("DELETE /v1/projects/1/apps/a/parts/p HTTP/1.1\r\nHost: a\r\n\(header)\r\n")
        #expect(call?.credentials?.text == token)
    }

    @Test("a caller that is not known is told how to say who it is")
    func challenge() async throws {
        let handler = FakeHandler(methods: Self.methods) { _ in .failure(CallFailure(.unauthenticated, "No.")) }
        let reply = try await TestGateway.answer(
            to: "DELETE /v1/projects/1/apps/a/parts/p HTTP/1.1\r\nHost: a\r\n\r\n", handler: handler)
        #expect(reply.status == 401)
        #expect(reply["www-authenticate"] == "Bearer realm=\"assay\"")
    }
}
