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
        // So that a client on a busy machine still gets its reply.
        limits.lingerTime = .seconds(60)
        return limits
    }

    @Test(
        "a request that drips in is refused after its time, however steadily it drips", arguments: [1, head.utf8.count])
    func drip(sentAtOnce: Int) async throws {
        let handler = FakeHandler()
        try await TestServer.with(handler, limits: Self.limits) { port, _ in
            try await RawConnection.with(port: port, sending: String(Self.head.prefix(sentAtOnce))) { connection in
                let bytes = Array((Self.head + String(repeating: " ", count: 50)).utf8)
                let start = ContinuousClock.now
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
            try await RawConnection.with(port: port, sending: isUsed ? TestServer.get("/livez") : "") { connection in
                let status = isUsed ? try await connection.reply().status : nil
                #expect(status == (isUsed ? 200 : nil))
                let rest = try await connection.rest()
                #expect(rest.isEmpty)
            }
        }
    }

    @Test("a client that sends request after request and never reads a reply is held back, and then cut off")
    func neverReads() async throws {
        // As long as a key set.
        let handler = FakeHandler { _ in .success(["keys": .string(String(repeating: "k", count: 4000))]) }
        try await TestServer.with(handler, limits: Self.limits) { port, _ in
            try await RawConnection.with(port: port) { connection in
                let requests = String(repeating: TestServer.get("/v1/jwks"), count: 100)
                // Some 80 MB, which no system keeps for a socket.
                let sent = try await count(upTo: 20_000) { try await connection.send(requests) }
                #expect(sent < 20_000, "the client could send as much as it liked")
                #expect(handler.calls.count < 50_000)
            }
            let reply = try await RawConnection.with(port: port, sending: TestServer.get("/livez")) { connection in
                try await connection.reply()
            }
            #expect(reply.status == 200)
        }
    }

    @Test("three hundred clients that drip at once do not keep others waiting, and all are cut off")
    func manyDrips() async throws {
        let handler = FakeHandler()
        try await TestServer.with(handler, limits: Self.limits) { port, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        try await RawConnection.with(port: port) { connection in
                            let bytes = Array((Self.head + String(repeating: " ", count: 50)).utf8)
                            try await connection.send(Array(bytes.prefix(number % (Self.head.utf8.count + 1))))
                            // Past its time; then until the server hangs up.
                            _ = try await count(upTo: 15) {
                                try await connection.send([UInt8(ascii: "a")])
                                try await Task.sleep(for: .milliseconds(100))
                            }
                            _ = try? await connection.rest()
                        }
                    }
                }
                for _ in 0..<20 {
                    try await RawConnection.with(port: port, sending: TestServer.get("/v1/jwks")) { connection in
                        let reply = try await connection.reply()
                        #expect(reply.status == 200)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(handler.calls.count == 20)
    }
}

/// How often something can be done before it fails.
private func count(upTo most: Int, _ body: () async throws -> Void) async throws -> Int {
    for number in 0..<most {
        do { try await body() } catch { return number }
    }
    return most
}
