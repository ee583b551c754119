import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

@Suite("Slow clients", .timeLimit(.minutes(20)))
struct SlowClientTests {
    private static func head(length: Int) -> String {
        "POST /v1/projects/1/apps/2:exchangeDebugToken HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
    }

    /// No limit on time but the one that a test is about: a busy machine may be slower than any client.
    private static func limits(_ set: (inout HTTPLimits) -> Void) -> HTTPLimits {
        var limits = HTTPLimits.patient
        // So that a client on a busy machine still gets its reply.
        limits.lingerTime = .seconds(60)
        set(&limits)
        return limits
    }

    @Test("a body that drips in is refused after its time, however steadily it drips")
    func drip() async throws {
        let handler = FakeHandler()
        try await TestServer.with(handler, limits: Self.limits { $0.bodyTime = .milliseconds(500) }) { port, _ in
            try await RawConnection.with(port: port, sending: Self.head(length: 60_000)) { connection in
                // It drips until the server has had enough.
                let reply = try await connection.reply(whileSending: [UInt8(ascii: " ")], every: .milliseconds(20))
                #expect(reply.status == 408)
                #expect(try reply.error("status") == "DEADLINE_EXCEEDED")
                let message = try reply.error("message")?.string
                #expect(message?.contains("body") == true)
                #expect(reply["connection"] == "close")
                let rest = try await connection.rest()
                #expect(rest.isEmpty)
            }
        }
        #expect(handler.calls.isEmpty)
    }

    @Test("a connection on which nothing is sent is closed without a word")
    func nothing() async throws {
        try await TestServer.with(limits: Self.limits { $0.headTime = .milliseconds(500) }) { port, _ in
            try await RawConnection.with(port: port) { connection in
                let rest = try await connection.rest()
                #expect(rest.isEmpty)
            }
        }
    }

    @Test("a connection on which nothing more is sent is closed without a word")
    func nothingMore() async throws {
        try await TestServer.with(limits: Self.limits { $0.idleTime = .milliseconds(500) }) { port, _ in
            try await RawConnection.with(port: port, sending: TestServer.get("/livez")) { connection in
                let reply = try await connection.reply()
                #expect(reply.status == 200)
                let rest = try await connection.rest()
                #expect(rest.isEmpty)
            }
        }
    }

    @Test("a client that sends request after request and never reads a reply is held back, and then cut off")
    func neverReads() async throws {
        // As long as a key set.
        let handler = FakeHandler { _ in .success(["keys": .string(String(repeating: "k", count: 4000))]) }
        let limits = Self.limits {
            $0.idleTime = .milliseconds(500)
            $0.lingerTime = .milliseconds(500)
        }
        try await TestServer.with(handler, limits: limits) { port, _ in
            try await RawConnection.with(port: port) { connection in
                let requests = String(repeating: TestServer.get("/v1/jwks"), count: 100)
                // Until the connection is cut off. A client that has got its last reply may send on until then.
                while (try? await connection.send(requests)) != nil {}
                // Replies of 200 MB, which no system keeps for a socket.
                #expect(handler.calls.count < 50_000, "the client was answered as much as it liked")
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
        try await TestServer.with(handler, limits: Self.limits { $0.bodyTime = .seconds(1) }) { port, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        let head = Self.head(length: 60_000) + String(repeating: " ", count: number)
                        try await RawConnection.with(port: port, sending: head) { connection in
                            let reply = try await connection.reply(
                                whileSending: [UInt8(ascii: "a")], every: .milliseconds(100))
                            #expect(reply.status == 408)
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
