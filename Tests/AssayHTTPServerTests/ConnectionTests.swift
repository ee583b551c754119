import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

@Suite("Connections", .timeLimit(.minutes(20)))
struct ConnectionTests {
    private static let target = "/v1/projects/1/apps/2:exchangeDebugToken"

    @Test("one connection serves one request after the other, good or refused")
    func keepAlive() async throws {
        try await TestServer.with { port, _ in
            try await RawConnection.with(port: port) { connection in
                for (request, status) in [
                    (TestServer.post(Self.target, "{}"), 200), (TestServer.post(Self.target, "{"), 400),
                    (TestServer.get("/nothing"), 404), (TestServer.post("/livez", "{}"), 405),
                    (TestServer.get("/livez"), 200),
                ] {
                    try await connection.send(request)
                    let reply = try await connection.reply()
                    #expect(reply.status == status)
                    #expect(reply["connection"] == nil)
                }
            }
        }
    }

    @Test("pipelined requests are answered in their order, though later ones are quicker")
    func pipelining() async throws {
        let handler = FakeHandler { call in
            if call.body["n"] == 0 { try? await Task.sleep(for: .milliseconds(50)) }
            return .success(["n": call.body["n"] ?? .null])
        }
        try await TestServer.with(handler) { port, _ in
            try await RawConnection.with(port: port) { connection in
                let requests = (0..<500).map { TestServer.post(Self.target, "{\"n\":\($0)}") }
                try await connection.send(requests.joined())
                for number in 0..<500 {
                    #expect(try await connection.reply().json == ["n": .integer(Int64(number))])
                }
            }
        }
    }

    @Test("garbage behind a good request is refused after the good one's reply")
    func pipelinedGarbage() async throws {
        let handler = FakeHandler { _ in
            try? await Task.sleep(for: .milliseconds(30))
            return .success([:])
        }
        try await TestServer.with(handler) { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(TestServer.post(Self.target, "{}") + "GARBAGE GARBAGE\r\n\r\n")
                #expect(try await connection.reply().status == 200)
                let refusal = try await connection.reply()
                #expect(refusal.status == 400)
                #expect(refusal["connection"] == "close")
                #expect(try await connection.rest().isEmpty)
            }
        }
        #expect(handler.calls.count == 1)
    }

    @Test(
        "the connection is closed when the client wants it, and nothing behind that is answered",
        arguments: [
            "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /livez HTTP/1.0\r\n\r\n",
            "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n",
            "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        ])
    func closes(request: String) async throws {
        try await TestServer.with { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(request + TestServer.get("/livez"))
                let reply = try await connection.reply()
                #expect(reply.status == 200)
                #expect(reply["connection"] == "close")
                #expect(try await connection.rest().isEmpty)
            }
        }
    }

    @Test("a client of HTTP/1.0 that wants the connection kept is told that it is")
    func keepAliveOfOldClients() async throws {
        try await TestServer.with { port, _ in
            try await RawConnection.with(port: port) { connection in
                for _ in 0..<2 {
                    try await connection.send("GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                    let reply = try await connection.reply()
                    #expect(reply.status == 200)
                    #expect(reply["connection"] == "keep-alive")
                }
            }
        }
    }

    @Test("a client that has said all gets its replies before the end")
    func halfClosed() async throws {
        let handler = FakeHandler { _ in
            try? await Task.sleep(for: .milliseconds(30))
            return .success([:])
        }
        try await TestServer.with(handler) { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(TestServer.post(Self.target) + TestServer.get("/livez"))
                try await connection.finishSending()
                #expect(try await connection.reply().status == 200)
                #expect(try await connection.reply().status == 200)
                #expect(try await connection.rest().isEmpty)
            }
        }
    }

    @Test("a client that waits for it is told to continue")
    func continues() async throws {
        try await TestServer.with { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(
                    "POST \(Self.target) HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
                #expect(try await connection.reply(hasBody: false).status == 100)
                try await connection.send("{}")
                #expect(try await connection.reply().status == 200)
                // A body that is there already needs no invitation.
                try await connection.send(TestServer.post(Self.target, "{}", headers: "Expect: 100-continue\r\n"))
                #expect(try await connection.reply().status == 200)
            }
        }
    }

    @Test("two hundred connections are served at once")
    func manyConnections() async throws {
        let handler = FakeHandler { call in
            try? await Task.sleep(for: .milliseconds(20))
            return .success(["n": call.body["n"] ?? .null])
        }
        try await TestServer.with(handler) { port, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await RawConnection.with(port: port) { connection in
                            for _ in 0..<3 {
                                try await connection.send(TestServer.post(Self.target, "{\"n\":\(number)}"))
                                #expect(try await connection.reply().json == ["n": .integer(Int64(number))])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(handler.calls.count == 600)
    }

    @Test("connections beyond the most wait until others end, and are then served")
    func maximumConnections() async throws {
        var limits = HTTPLimits()
        limits.maximumConnections = 4
        limits.graceTime = .seconds(3600)
        try await TestServer.with(limits: limits) { port, _ in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        try await RawConnection.with(port: port) { connection in
                            try await connection.send(TestServer.get("/livez"))
                            return try await connection.reply().status
                        }
                    }
                }
                var statuses: [Int] = []
                for try await status in group { statuses.append(status) }
                #expect(statuses == Array(repeating: 200, count: 40))
            }
        }
    }

    @Test("a port that is none is refused, and no other one is taken for it", arguments: [65_536, 99_999, -5])
    func noPort(_ port: Int) async throws {
        let service = try HTTPService(
            handler: FakeHandler(), configuration: HTTPConfiguration(address: .host("127.0.0.1", port: port)),
            logger: TestServer.logger)
        let error = await #expect(throws: ListenerError.self) { try await service.run() }
        #expect(error?.message.contains("a port is 0 to 65535") == true)
    }

    @Test("an address that is taken is told in the error")
    func taken() async throws {
        try await TestServer.with { port, _ in
            let second = try HTTPService(
                handler: FakeHandler(), configuration: HTTPConfiguration(address: .host("127.0.0.1", port: port)),
                logger: TestServer.logger)
            let error = await #expect(throws: ListenerError.self) { try await second.run() }
            #expect(error?.message.contains("127.0.0.1, port \(port)") == true)
        }
    }
}
