import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

/// More clients than slots, with limits on time that would let each of them stay for an hour.
@Suite("A crowded server", .timeLimit(.minutes(20)))
struct CrowdedServerTests {
    private static let target = "/v1/projects/1/apps/2:exchangeDebugToken"
    private static let head = "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n"

    private static func limits(connections: Int) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.headTime = .seconds(3600)
        limits.bodyTime = .seconds(3600)
        limits.idleTime = .seconds(3600)
        limits.graceTime = .seconds(1)
        limits.maximumConnections = connections
        return limits
    }

    @Test(
        "clients that only hold connections do not keep others out",
        arguments: ["", TestServer.get("/livez"), "G", String(head.dropLast(3)), head, head + "{"])
    func holders(sent: String) async throws {
        try await TestServer.with(limits: Self.limits(connections: 8)) { port, _ in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await RawConnection.with(port: port, sending: sent) { connection in
                            // Until the server closes. The last ones may stay until the test has ended.
                            _ = try? await connection.rest()
                            return false
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<4 {
                        let request = TestServer.post(Self.target, "{}")
                        try await RawConnection.with(port: port, sending: request) { connection in
                            let reply = try await connection.reply()
                            #expect(reply.status == 200)
                        }
                    }
                    return true
                }
                while let isServed = try await group.next(), !isServed {}
                group.cancelAll()
            }
        }
    }

    @Test("a request that is being answered keeps its connection, however long that takes")
    func answered() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let handler = FakeHandler { call in
            guard call.body["slow"] == true else { return .success([:]) }
            begin.yield()
            for await _ in released { break }
            return .success(["slow": true])
        }
        try await TestServer.with(handler, limits: Self.limits(connections: 2)) { port, _ in
            let request = TestServer.post(Self.target, "{\"slow\":true}")
            try await RawConnection.with(port: port, sending: request) { busy in
                for await _ in begun { break }
                for _ in 0..<3 {
                    try await RawConnection.with(port: port, sending: TestServer.get("/livez")) { holder in
                        let reply = try await holder.reply()
                        #expect(reply.status == 200)
                        try await RawConnection.with(port: port, sending: TestServer.get("/livez")) { connection in
                            let reply = try await connection.reply()
                            #expect(reply.status == 200)
                        }
                        #expect(try await holder.rest().isEmpty)
                    }
                }
                release.yield()
                #expect(try await busy.reply().json == ["slow": true])
            }
        }
    }
}
