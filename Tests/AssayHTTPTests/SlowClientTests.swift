import AssayHTTP
import AssayKit
import Testing

@Suite("Slow clients", .timeLimit(.minutes(5)))
struct SlowClientTests {
    private static let head =
        "POST /v1/projects/1/apps/2:exchangeDebugToken HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n"

    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.headTime = .seconds(1)
        limits.bodyTime = .seconds(1)
        limits.idleTime = .milliseconds(500)
        return limits
    }

    @Test(
        "a request that drips in is refused after its time, however steadily it drips", arguments: [0, head.utf8.count])
    func drip(sentAtOnce: Int) async throws {
        let handler = FakeHandler()
        try await TestServer.with(handler, limits: Self.limits) { port, _ in
            try await RawConnection.with(port: port) { connection in
                let bytes = Array((Self.head + String(repeating: " ", count: 50)).utf8)
                let start = ContinuousClock.now
                try await connection.send(Array(bytes[..<sentAtOnce]))
                // The whole would take more than twice the time.
                for byte in bytes[sentAtOnce...] where start.duration(to: .now) < .milliseconds(1_200) {
                    // On a busy machine the server may have closed before the next byte.
                    guard (try? await connection.send([byte])) != nil else { break }
                    try await Task.sleep(for: .milliseconds(50))
                }
                let reply = try await connection.reply()
                #expect(reply.status == 408)
                #expect(try reply.error("status") == "DEADLINE_EXCEEDED")
                #expect(reply["connection"] == "close")
                #expect(try await connection.rest().isEmpty)
            }
        }
        #expect(handler.calls.isEmpty)
    }

    @Test("a connection on which nothing is sent, or nothing more, is closed without a word", arguments: [false, true])
    func silence(isUsed: Bool) async throws {
        try await TestServer.with(limits: Self.limits) { port, _ in
            try await RawConnection.with(port: port) { connection in
                if isUsed {
                    try await connection.send(TestServer.get("/livez"))
                    #expect(try await connection.reply().status == 200)
                }
                #expect(try await connection.rest().isEmpty)
            }
        }
    }
}
