import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import ServiceLifecycle
import Testing

@Suite("Shutdown", .timeLimit(.minutes(20)))
struct ShutdownTests {
    private static let request = TestServer.post("/v1/projects/1/apps/2:exchangeDebugToken", "{}")

    @Test("a request that has begun is answered, idle connections are closed, and no new ones taken")
    func drains() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let handler = FakeHandler { _ in
            begin.yield()
            for await _ in released { break }
            return .success(["done": true])
        }
        try await TestServer.with(handler) { port, services in
            try await RawConnection.with(port: port) { idle in
                try await idle.send(TestServer.get("/livez"))
                #expect(try await idle.reply().status == 200)
                try await RawConnection.with(port: port) { busy in
                    try await busy.send(Self.request)
                    for await _ in begun { break }
                    await services.triggerGracefulShutdown()

                    #expect(try await idle.rest().isEmpty)
                    await #expect(throws: (any Error).self) {
                        try await RawConnection.with(port: port) { connection in
                            try await connection.send(TestServer.get("/livez"))
                            _ = try await connection.reply()
                        }
                    }
                    release.yield()
                    let reply = try await busy.reply()
                    #expect(reply.status == 200)
                    #expect(try reply.json == ["done": true])
                    #expect(reply["connection"] == "close")
                    #expect(try await busy.rest().isEmpty)
                }
            }
        }
    }

    @Test("what has not finished at the end of the drain time is cancelled", arguments: ["", "GET /li"])
    func drainTime(partial: String) async throws {
        var limits = HTTPLimits()
        limits.drainTime = .milliseconds(150)
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let handler = FakeHandler { _ in
            continuation.yield()
            // Without the cancellation this test would not end within its time limit.
            try? await Task.sleep(for: .seconds(3600))
            return .success([:])
        }
        try await TestServer.with(handler, limits: limits) { port, services in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(partial.isEmpty ? Self.request : partial)
                if partial.isEmpty {
                    for await _ in begun { break }
                } else {
                    try await Task.sleep(for: .milliseconds(50))
                }
                await services.triggerGracefulShutdown()
                _ = try? await connection.rest()
            }
        }
    }

    @Test("connections that are just being made when the server shuts down end with it")
    func race() async throws {
        var limits = HTTPLimits()
        limits.drainTime = .milliseconds(100)
        try await TestServer.with(limits: limits) { port, services in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        // Refused, broken off or closed: only to wait for ever would be wrong.
                        try? await RawConnection.with(port: port) { connection in
                            try await connection.send(number.isMultiple(of: 2) ? "GET /li" : TestServer.get("/livez"))
                            _ = try await connection.rest()
                        }
                    }
                }
                try? await Task.sleep(for: .milliseconds(10))
                await services.triggerGracefulShutdown()
            }
        }
    }
}
