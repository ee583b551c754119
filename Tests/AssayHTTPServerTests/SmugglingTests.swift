import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

/// Requests that a proxy in front might read in another way than the server: none of them may become two.
@Suite("Requests with two readings", .timeLimit(.minutes(20)))
struct SmugglingTests {
    private static let line = "POST /v1/projects/1/apps/2:exchangeDebugToken HTTP/1.1\r\nHost: a\r\n"
    /// What one of the two readings would take for a request of its own.
    private static let hidden = "GET /v1/jwks HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test(
        "a body of doubtful length is refused, and nothing behind it is answered",
        arguments: [
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
            "Content-Length: 0\r\nContent-Length: 34\r\n\r\n",
            "Content-Length: 0, 34\r\n\r\n", "Content-Length: 0,0\r\n\r\n", "Content-Length: +0\r\n\r\n",
            "Content-Length: 0 34\r\n\r\n", "Content-Length: \r\n\r\n", "Content-Length: 0x22\r\n\r\n",
            "Content-Length : 34\r\n\r\n", "Content-Length\t: 34\r\n\r\n", "Content-Length: 0;34\r\n\r\n",
            "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: \u{0B}chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: chun\r\n ked\r\n\r\n0\r\n\r\n", "X: a\r\n Content-Length: 34\r\n\r\n",
            "X: a\r\n\tTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", " Content-Length: 34\r\n\r\n",
            "X: a\rContent-Length: 34\r\n\r\n", "X: a\nContent-Length: 34\r\n\r\n", "Content-Length: 34\n\r\n",
            "Content-Length: 34\r\n\n", "Content-Length: 3\04\r\n\r\n", "Content-Length\0: 34\r\n\r\n",
        ])
    func length(headers: String) async throws {
        try await refuse(Self.line + headers)
    }

    @Test(
        "a chunk of doubtful length is refused, and nothing behind it is answered",
        arguments: [
            "0x0\r\n\r\n", "10000000000000000\r\n", "fffffffffffffffff\r\n", "-0\r\n\r\n", "+0\r\n\r\n", " 0\r\n\r\n",
            "\r\n0\r\n\r\n", "0\n\r\n", "2\n{}\r\n0\r\n\r\n",
            "2\r\n{}0\r\n\r\n", "2\r\n{}\n0\r\n\r\n", "2\r\n{\r\n0\r\n\r\n", "0\r\nX: a\n\r\n", "0\r\n X: a\r\n\r\n",
            "0\r\nX\0: a\r\n\r\n",
            "0 \r\n\r\n", "2;a\n{}\r\n0\r\n\r\n", "1e1\0\r\n", "g\r\n", "\r\n\r\n",
        ])
    func chunks(body: String) async throws {
        try await refuse(Self.line + "Transfer-Encoding: chunked\r\n\r\n" + body)
    }

    @Test("a chunk of absurd size is refused when it passes the limit or the time", arguments: ["7", "f"])
    func absurdChunk(digit: String) async throws {
        let chunk = Self.line + "Transfer-Encoding: chunked\r\n\r\n\(digit)fffffffffffffff\r\n"
        var limits = HTTPLimits()
        limits.bodyTime = .milliseconds(500)
        #expect(try await TestServer.answer(to: chunk + Self.hidden, limits: limits).status == 408)
        let long = String(repeating: " ", count: 65_537)
        #expect(try await TestServer.answer(to: chunk + long, limits: HTTPLimits()).status == 413)
    }

    @Test(
        "a request line with a line end of its own is refused",
        arguments: [
            "POST /v1/jwks HTTP/1.1\nHost: a\n\n", "GET /livez HTTP/1.1\nHost: a\r\n\r\n",
            "GET /livez HTTP/1.1\r\nHost: a\n\r\n", "GET /livez HTTP/1.1\r\nHost: a\r\n\n",
            "GET /livez HTTP/1.1\rHost: a\r\r",
            "GET /livez\0 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /livez\u{0B}HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET\0 /livez HTTP/1.1\r\nHost: a\r\n\r\n", " GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /livez HTTP/1.1\r\n Host: a\r\n\r\n", "GET /livez HTTP/1.1 \r\nHost: a\r\n\r\n",
        ])
    func lines(request: String) async throws {
        try await refuse(request)
    }

    @Test("fields behind the last chunk are bounded like those of the head, and mean nothing")
    func trailers() async throws {
        let chunks = Self.line + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        try await refuse(chunks + String(repeating: "X: a\r\n", count: 200) + "\r\n", status: 431)
        try await refuse(chunks + "X: " + String(repeating: "a", count: 20_000) + "\r\n\r\n", status: 431)
        let reply = try await TestServer.answer(
            to: chunks + "Host: b\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
        #expect(reply.status == 200)
        #expect(reply["connection"] == nil)
    }

    @Test("a client that waits to be told to continue is cut off at the limit anyway")
    func continuedBeyondLimit() async throws {
        try await TestServer.with { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(Self.line + "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
                #expect(try await connection.reply(hasBody: false).status == 100)
                try await connection.send(
                    "10001\r\n" + String(repeating: " ", count: 0x10001) + "\r\n0\r\n\r\n" + Self.hidden)
                let reply = try await connection.reply()
                #expect(reply.status == 413)
                #expect(reply["connection"] == "close")
                #expect(try await connection.rest().isEmpty)
            }
        }
    }

    /// Sends this and a request behind it.
    ///
    /// What comes back has to be one refusal, after which the server hangs up.
    private func refuse(_ request: String, status: Int? = nil) async throws {
        let handler = FakeHandler()
        try await TestServer.with(handler) { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(request + Self.hidden)
                let reply = try await connection.reply()
                if let status { #expect(reply.status == status) } else { #expect([400, 501].contains(reply.status)) }
                #expect(reply["connection"] == "close")
                #expect(try await connection.rest().isEmpty)
            }
        }
        #expect(handler.calls.isEmpty)
    }
}
