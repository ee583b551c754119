import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

@Suite("Replies that clients do not read", .timeLimit(.minutes(20)))
struct UnreadReplyTests {
    private static let target = "/v1/projects/p/apps/a:exchangeDebugToken"
    private static let perConnection = 40

    /// Opens connections with requests whose replies are not read, and runs `body` with all of them.
    private func flood(
        _ count: Int, port: Int, _ identity: TestIdentity, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        // No reply has a window for its body.
        try await StreamClient.with(port: port, identity: identity, settings: [(4, 0)]) { client in
            let streams = (0..<Self.perConnection).map { 2 * $0 + 1 }
            for stream in streams { try await client.post(stream, Self.target, "{}") }
            for stream in streams { #expect(try await client.status(stream) == "200") }
            try await flood(count - 1, port: port, identity, body)
            guard count > 2 else { return }
            // The oldest were reset.
            for stream in streams {
                guard case .reset(let code) = try await client.outcome(stream) else {
                    Issue.record("a reply came where there was no window for it")
                    return
                }
                #expect(code == 11)
            }
        }
    }

    @Test("One peer with many unread replies over HTTP/2 keeps an eighth of the budget, and others are answered")
    func streams() async throws {
        let identity = try TestIdentity()
        let certificate = try IdentityFiles(identity).open()
        // 320 unread replies would not fit.
        let budget = TransportBudget(bytes: 64 << 20, streams: 240)
        let numbers = Numbers()
        try await TestServer.with(meter: numbers.meter, certificate: certificate, budget: budget) { port, _ in
            try await flood(8, port: port, identity) {
                for _ in 0..<4 {
                    try await StreamClient.with(port: port, identity: identity) { client in
                        for stream in [1, 3, 5, 7] { try await client.post(stream, Self.target, "{}") }
                        for stream in [1, 3, 5, 7] { #expect(try await client.reply(stream).status == 200) }
                    }
                }
                while budget.streams > 30 { await Task.yield() }
                #expect(budget.bytes <= 9 * 61_440 + 30 * 16_384)
            }
        }
        #expect(budget.refused == 0)
        #expect(numbers["http_unread_replies_dropped_total"] == 290)
    }

    @Test(
        "Of connections over HTTP/1.1 that do not read long replies, the oldest is closed, and another one is answered")
    func connections() async throws {
        let length = 12 << 20
        let handler = FakeHandler { call in
            call.body["debugToken"] == "long"
                ? .success(["text": .string(String(repeating: "x", count: length))]) : .success([:])
        }
        // An eighth is more than one such reply, and less than two.
        let budget = TransportBudget(bytes: 160 << 20)
        let numbers = Numbers()
        try await TestServer.with(handler, meter: numbers.meter, budget: budget) { port, _ in
            let request = TestServer.post(Self.target, #"{"debugToken":"long"}"#)
            try await RawConnection.with(port: port, sending: request) { first in
                while budget.bytes < length { await Task.yield() }
                try await RawConnection.with(port: port, sending: request) { _ in
                    while numbers["http_unread_replies_dropped_total"] == 0 { await Task.yield() }
                    try await RawConnection.with(port: port, sending: TestServer.post(Self.target, "{}")) { other in
                        let reply = try await other.reply()
                        #expect(reply.status == 200)
                    }
                }
                let rest = try? await first.rest()
                #expect(rest?.count ?? 0 < length)
            }
        }
        #expect(numbers["http_unread_replies_dropped_total"] == 1)
    }
}
