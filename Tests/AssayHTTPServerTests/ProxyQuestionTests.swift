import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

@Suite("Questions of proxies", .timeLimit(.minutes(20)))
struct ProxyQuestionTests {
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
        FakeHandler(methods: [Self.verify], answer: answer)
    }

    @Test(
        "White space around the values of headers belongs to none of them, with HTTP/2 too",
        arguments: [" ", "\t", " \t \t"])
    func whiteSpace(_ space: String) async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let certificate = try files.open()
        let fields = [("x-firebase-appcheck", "t"), ("x-original-uri", "/a b"), ("authorization", "Bearer c")]
        let answer: @Sendable (Call) async -> Result<JSON, CallFailure> = { _ in
            .success(["appId": "1:2:ios:ab", "consumed": false])
        }
        let first = handler(answer)
        try await TestServer.with(first) { port, _ in
            try await RawConnection.with(port: port) { connection in
                let lines = fields.map { "\($0.0):\(space)\($0.1)\(space)\r\n" }.joined()
                try await connection.send(TestServer.get("/verify/orders", headers: lines))
                #expect(try await connection.reply(hasBody: false).status == 204)
            }
        }
        let second = handler(answer)
        try await TestServer.with(second, certificate: certificate) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                try await client.get(1, "/verify/orders", fields.map { ($0.0, space + $0.1 + space) })
                #expect(try await client.reply(1).status == 204)
            }
        }
        for call in try [#require(first.calls.first), #require(second.calls.first)] {
            #expect(call.token == .one("t"))
            #expect(call.body["originalUri"] == "/a b")
            #expect(call.credentials?.text == "c")
        }
    }

    @Test(
        "Any HTTP method asks, and gets an answer without a body",
        arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE", "HEAD"])
    func verbs(_ verb: String) async throws {
        let handler = handler { _ in .success(["appId": "1:2:ios:ab", "consumed": true]) }
        try await TestServer.with(handler) { port, _ in
            try await RawConnection.with(port: port) { connection in
                for _ in 0..<2 {
                    try await connection.send(
                        "\(verb) /verify/orders HTTP/1.1\r\nHost: a\r\nX-Firebase-AppCheck: t\r\n\r\n")
                    let reply = try await connection.reply(hasBody: false)
                    #expect(reply.status == 204)
                    #expect(reply["x-appcheck-app-id"] == "1:2:ios:ab")
                    #expect(reply["x-appcheck-consumed"] == "true")
                    #expect(reply["content-length"] == nil)
                }
            }
        }
        #expect(handler.calls.map(\.body) == Array(repeating: ["backend": "orders", "verb": .string(verb)], count: 2))
        #expect(handler.calls.map(\.token) == [.one("t"), .one("t")])
    }

    @Test(
        "The reply says which status of success it has, and no other one",
        arguments: [(200, 200), (204, 204), (299, 299), (199, 204), (300, 204), (403, 204), (Int64.max, 204)])
    func status(_ said: Int64, _ status: Int) async throws {
        let handler = handler { _ in .success(["appId": "1:2:ios:ab", "status": .integer(said)]) }
        try await TestServer.with(handler) { port, _ in
            try await RawConnection.with(port: port) { connection in
                for _ in 0..<2 {
                    try await connection.send("POST /verify/orders HTTP/1.1\r\nHost: a\r\n\r\n")
                    let reply = try await connection.reply(hasBody: false)
                    #expect(reply.status == status)
                    #expect(reply["x-appcheck-app-id"] == "1:2:ios:ab")
                    #expect(reply["content-length"] == (status == 204 ? nil : "0"))
                }
            }
        }
    }

    @Test(
        "A body that is announced is not waited for, and the connection ends with the reply",
        arguments: ["Content-Length: 5", "Content-Length: 99999999", "Transfer-Encoding: chunked"])
    func missingBody(_ header: String) async throws {
        let handler = handler()
        let reply = try await TestServer.answer(
            to: "GET /verify HTTP/1.1\r\nHost: a\r\n\(header)\r\n\r\n", handler: handler)
        #expect(reply.status == 204)
        #expect(reply["connection"] == "close")
        #expect(handler.calls.count == 1)
    }

    @Test("What stands where the body would be is no request")
    func smuggling() async throws {
        let handler = handler()
        let reply = try await TestServer.answer(
            to:
                "GET /verify HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\nGET /verify/inner HTTP/1.1\r\nHost: a\r\n\r\n",
            handler: handler)
        #expect(reply.status == 204)
        #expect(handler.calls.map(\.body) == [["verb": "GET"]])
    }
}
