import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

@Suite("Malformed and oversized requests", .timeLimit(.minutes(20)))
struct MalformedRequestTests {
    private static let line = "POST /v1/projects/1/apps/2:exchangeDebugToken HTTP/1.1\r\n"

    @Test(
        "a request that is not HTTP is answered in JSON, and the connection closed",
        arguments: [
            ("GARBAGE\r\n\r\n", 400), ("GET\r\n\r\n", 400), ("GET /livez\r\n\r\n", 400),
            ("GET /livez HTTP/2.0\r\n\r\n", 400), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
            ("GET /livez HTTP/9.9\r\nHost: a\r\n\r\n", 400), ("NOSUCH /livez HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("\u{16}\u{03}\u{01}\u{02}", 400), ("GET /li vez HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET /livez HTTP/1.1\r\n\r\n", 400), ("GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET /livez HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET /livez HTTP/1.1\r\n: a\r\n\r\n", 400),
            ("GET /livez HTTP/1.1\r\nHost: a\0b\r\n\r\n", 400), ("GET /livez HTTP/1.1\r\nHo\0st: a\r\n\r\n", 400),
            (line + "Host: a\r\nContent-Length: -1\r\n\r\n", 400),
            (line + "Host: a\r\nContent-Length: 0x2\r\n\r\n{}", 400),
            (line + "Host: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
            (line + "Host: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
            (line + "Host: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400),
            (line + "Host: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            (line + "Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n", 400),
            (line + "Host: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400),
            (line + "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}xx0\r\n\r\n", 400),
            (line + "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n", 400),
            (line + "Host: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}", 400),
            (
                line.replacing("1.1", with: "1.0")
                    + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400
            ),
            (line + "Host: a\r\nTransfer-Encoding: identity\r\n\r\n", 501),
            (line + "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
            (line + "Host: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
            ("GET /" + String(repeating: "a", count: 20_000) + " HTTP/1.1\r\nHost: a\r\n\r\n", 431),
            ("GET /livez HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 20_000) + "\r\n\r\n", 431),
            ("GET /livez HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: a\r\n", count: 101) + "\r\n", 431),
            (line + "Host: a\r\nContent-Length: 65537\r\n\r\n", 413),
            (line + "Host: a\r\nContent-Length: 18446744073709551615\r\n\r\n", 413),
            (line + "Host: a\r\nExpect: 100-continue\r\nContent-Length: 70000\r\n\r\n", 413),
            ("GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n", 413),
        ])
    func malformed(request: String, status: Int) async throws {
        let handler = FakeHandler()
        try await TestServer.with(handler) { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(request)
                let reply = try await connection.reply()
                #expect(reply.status == status)
                #expect(try reply.error("code") == .integer(Int64(status)))
                #expect(reply["connection"] == "close")
                #expect(try await connection.rest().isEmpty)
            }
            let next = try await RawConnection.with(port: port) { connection in
                try await connection.send(TestServer.get("/livez"))
                return try await connection.reply()
            }
            #expect(next.status == 200)
        }
        #expect(handler.calls.isEmpty)
    }

    @Test("a body of exactly the limit is taken, one byte more is not", arguments: [false, true])
    func bodyLimit(isChunked: Bool) async throws {
        for (count, status) in [(65_536, 200), (65_537, 413)] {
            let body = "{" + String(repeating: " ", count: count - 2) + "}"
            let framed =
                isChunked
                ? "Transfer-Encoding: chunked\r\n\r\n\(String(count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                : "Content-Length: \(count)\r\n\r\n\(body)"
            let reply = try await TestServer.answer(to: Self.line + "Host: a\r\n" + framed)
            #expect(reply.status == status)
            if status == 413 { #expect(try reply.error("status") == "INVALID_ARGUMENT") }
        }
    }

    @Test("an endless body is refused while it is sent, and the reply is not lost")
    func endlessBody() async throws {
        try await TestServer.with { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(Self.line + "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                for _ in 0..<200 {
                    try await connection.send("4000\r\n" + String(repeating: " ", count: 0x4000) + "\r\n")
                }
                let reply = try await connection.reply()
                #expect(reply.status == 413)
                #expect(reply["connection"] == "close")
            }
        }
    }

    @Test(
        "a request that the client breaks off is answered, where it can still hear",
        arguments: [
            "GET /livez HT", "GET /livez HTTP/1.1\r\nHost: a\r\n", line + "Host: a\r\nContent-Length: 9\r\n\r\n{",
            line + "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        ])
    func brokenOff(request: String) async throws {
        try await TestServer.with { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(request)
                try await connection.finishSending()
                #expect(try await connection.reply().status == 400)
                #expect(try await connection.rest().isEmpty)
            }
        }
    }

    @Test(
        "a script may read what its mistake was where the server refuses to read on",
        arguments: [("Content-Length: 999999", 413), ("Transfer-Encoding: gzip", 501)])
    func explainedToScripts(header: String, status: Int) async throws {
        let request = Self.line + "Host: a\r\nOrigin: https://app.example.com\r\n\(header)\r\n\r\n"
        let open = try await TestServer.answer(to: request)
        #expect(open.status == status)
        #expect(open["access-control-allow-origin"] == "*")
        #expect(try await TestServer.answer(to: request, origins: .only([]))["access-control-allow-origin"] == nil)
        let known = try await TestServer.answer(to: request, origins: .only(["https://app.example.com"]))
        #expect(known["access-control-allow-origin"] == "https://app.example.com")
    }
}
