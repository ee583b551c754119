import AssayClient
import AssayClientHTTP
import AssayCore
import AssayTesting
import AssayTestingHTTP
import Synchronization
import Testing

@Suite("The transport over async-http-client", .timeLimit(.minutes(5)))
struct HTTPClientTransportTests {
    /// Sends a request to a server that answers so.
    private func send(
        _ answer: ScriptedAnswer, _ change: @escaping @Sendable (inout ClientRequest) -> Void = { _ in }
    ) async throws -> ClientResponse {
        let transport = try HTTPClientTransport()
        let result: Result<ClientResponse, any Error> = try await LocalServer { _ in answer }.run { port in
            var request = ClientRequest(url: "http://localhost:\(port)/a?b=c", timeLimit: .minutes(1))
            change(&request)
            do {
                return .success(try await transport.send(request))
            } catch {
                return .failure(error)
            }
        }
        await transport.shutDown()
        return try result.get()
    }

    private static func response(_ status: Int, _ body: String = "", _ headers: [OutboundHeader] = []) -> ScriptedAnswer
    {
        .respond(OutboundResponse(status: status, headers: headers, body: Array(body.utf8)))
    }

    @Test(
        "a request arrives as it was made, and the response as it was given",
        arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
    func roundTrip(method: String) async throws {
        let transport = try HTTPClientTransport()
        let (received, continuation) = AsyncStream.makeStream(of: OutboundRequest.self)
        let server = LocalServer { request in
            continuation.yield(request)
            return Self.response(418, "tea", [OutboundHeader("X-Test", "1")])
        }
        let response = try await server.run { port in
            try await transport.send(
                ClientRequest(
                    method: method, url: "http://localhost:\(port)/a/b?c=d", headers: [ClientHeader("X-A", "b")],
                    body: method.hasPrefix("P") ? [1, 2, 3] : []))
        }
        #expect(response.status == 418)
        #expect(response.header("x-TEST") == "1")
        #expect(response.header("content-length") == "3")
        #expect(response.body == (method == "HEAD" ? [] : Array("tea".utf8)))
        var requests = received.makeAsyncIterator()
        let request = try #require(await requests.next())
        #expect(request.method.rawValue == method)
        #expect(request.url.path == "/a/b" && request.url.query == "c=d")
        #expect(request.header("x-a") == "b")
        #expect(request.body == (method.hasPrefix("P") ? [1, 2, 3] : []))
        await transport.shutDown()
    }

    @Test("a redirect is returned, and not followed", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let answer = Self.response(status, "", [OutboundHeader("Location", "http://localhost:1/elsewhere")])
        #expect(try await send(answer).status == status)
    }

    @Test("no cookie comes back")
    func cookies() async throws {
        let transport = try HTTPClientTransport()
        let (received, continuation) = AsyncStream.makeStream(of: OutboundRequest.self)
        let server = LocalServer { request in
            continuation.yield(request)
            return Self.response(200, "", [OutboundHeader("Set-Cookie", "a=b")])
        }
        try await server.run { port in
            for _ in 0..<2 { _ = try await transport.send(ClientRequest(url: "http://localhost:\(port)/")) }
        }
        continuation.finish()
        for await request in received { #expect(request.header("cookie") == nil) }
        await transport.shutDown()
    }

    @Test("a body up to the limit is read, and a longer one is a failure")
    func limits() async throws {
        let answer = Self.response(200, String(repeating: "x", count: 1000))
        #expect(try await send(answer) { $0.responseLimit = 1000 }.body.count == 1000)
        await #expect(throws: ResponseTooLong.self) { try await send(answer) { $0.responseLimit = 999 } }
        // The length of a body that does not come is no reason.
        let head = try await send(answer) { ($0.method, $0.responseLimit) = ("HEAD", 999) }
        #expect(head.header("content-length") == "1000" && head.body.isEmpty)
    }

    @Test("a server that does not answer, or hangs up, is a failure within the time limit")
    func silence() async throws {
        for answer in [ScriptedAnswer.silence, .hangUp, .stall(OutboundResponse(status: 200, body: [1]))] {
            await #expect(throws: HTTPClientTransport.Failure.self) {
                try await send(answer) { $0.timeLimit = .milliseconds(300) }
            }
        }
    }

    @Test("a root that is no certificate is refused")
    func wrongRoot() {
        #expect(throws: HTTPClientTransport.Failure.self) {
            try HTTPClientTransport(additionalTrustRoots: [[1, 2, 3]])
        }
    }
}
