import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Synchronization
import Testing

private let exchange = "/v1/projects/p/apps/a:exchangeDebugToken"
private let refusedStream: UInt32 = 7
private typealias Frame = StreamClient.Frame

/// A client's ways to make the server hold something, and then to go away.
private let leavings: [(name: String, frames: [[UInt8]])] = [
    ("before any request", []),
    ("within a head", [Array(StreamClient.head(1, StreamClient.fields("POST", exchange)).prefix(20))]),
    (
        "within a block of fields",
        [StreamClient.frame(Frame.headers, stream: 1, payload: StreamClient.block([("x", "y")]))]
    ),
    (
        "within bodies",
        (0..<20).flatMap {
            [
                StreamClient.head(2 * $0 + 1, StreamClient.fields("POST", exchange), ends: false),
                StreamClient.frame(Frame.data, stream: 2 * $0 + 1, payload: Array(repeating: 32, count: 3000)),
            ]
        }
    ),
    (
        "with requests in the kernel's hands",
        (0..<20).map { StreamClient.head(2 * $0 + 1, StreamClient.fields("POST", exchange)) }
    ),
    (
        "after streams were reset",
        (0..<20).flatMap {
            [
                StreamClient.head(2 * $0 + 1, StreamClient.fields("POST", exchange), ends: $0 % 2 == 0),
                StreamClient.frame(Frame.reset, stream: 2 * $0 + 1, payload: [0, 0, 0, 8]),
            ]
        }
    ),
    (
        "with refused requests",
        (0..<20).map { StreamClient.head(2 * $0 + 1, StreamClient.fields("GET", "/x", [("host", "other")])) }
    ),
]

@Suite("What all clients together can make the server hold", .timeLimit(.minutes(20)))
struct TransportLimitTests {
    /// Clients here are trusted proxies, whose part of the budget has no limit of its own.
    private static let proxies = [IPRange("127.0.0.0/8")].compactMap(\.self)

    /// Runs a client of HTTP/2 against a server.
    private func with(
        _ budget: TransportBudget, _ handler: FakeHandler = FakeHandler(), limits: HTTPLimits = .patient,
        settings: [(UInt16, UInt32)] = [], meter: Meter = .none,
        _ body: @escaping @Sendable (inout StreamClient) async throws -> Void
    ) async throws {
        let before = budget.bytes
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        try await TestServer.with(
            handler, limits: limits, meter: meter, certificate: files.open(), budget: budget, proxies: Self.proxies
        ) { port, _ in
            try await StreamClient.with(port: port, identity: identity, settings: settings) { client in
                try await body(&client)
            }
            // Whatever was held is given back when the client is gone.
            while budget.bytes != before || budget.streams != 0 { await Task.yield() }
        }
    }

    private func open(_ stream: Int, _ headers: [(String, String)] = []) -> [UInt8] {
        StreamClient.head(stream, StreamClient.fields("POST", exchange, headers), ends: false)
    }

    @Test("However a client leaves, nothing stays reserved", arguments: leavings.indices)
    func leaving(_ index: Int) async throws {
        let budget = TransportBudget()
        let handler = FakeHandler { _ in
            for _ in 0..<100 { await Task.yield() }
            return .success([:])
        }
        try await with(budget, handler) { client in
            try await client.send(leavings[index].frames)
            // Within a frame or a block of fields the server can be asked nothing.
            if !leavings[index].name.hasPrefix("within a") {
                try await client.roundTrip()
                #expect(budget.bytes >= 57_344)
            }
        }
        #expect(budget.refused == 0)
    }

    @Test("The stream beyond the last place is refused so that the client may send it again, and is taken later")
    func streams() async throws {
        let budget = TransportBudget(streams: 4)
        let handler = FakeHandler()
        try await with(budget, handler) { client in
            try await client.send([open(1), open(3)])
            try await client.roundTrip()
            #expect(budget.streams == 2)
            try await client.send([open(5), open(7), open(9)])
            for stream in [9] {
                guard case .reset(refusedStream) = try await client.outcome(stream) else {
                    Issue.record("it is not refused")
                    return
                }
            }
            #expect(budget.refused == 1)
            try await client.send(Frame.data, flags: Frame.endStream, stream: 1)
            #expect(try await client.reply(1).status == 200)
            while budget.streams != 3 { await Task.yield() }
            try await client.post(11, exchange, "{}")
            #expect(try await client.reply(11).status == 200)
            #expect(client.goAways.isEmpty)
        }
        #expect(handler.calls.count == 2)
    }

    @Test("While places are scarce, a connection with many unfinished requests gets no more, and another one does")
    func scarce() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let budget = TransportBudget(streams: 40)
        try await TestServer.with(certificate: files.open(), budget: budget, proxies: Self.proxies) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { greedy in
                try await greedy.send((0..<30).map { open(2 * $0 + 1) })
                guard case .reset(refusedStream) = try await greedy.outcome(59) else {
                    Issue.record("it is not refused")
                    return
                }
                let taken = budget.streams
                #expect((21...29).contains(taken))
                try await StreamClient.with(port: port, identity: identity) { other in
                    for stream in 0..<5 {
                        try await other.post(2 * stream + 1, exchange, "{}")
                        #expect(try await other.reply(2 * stream + 1).status == 200)
                    }
                }
            }
        }
    }

    @Test("A body that there is no room for is answered with 503 and when to come again")
    func body() async throws {
        let budget = TransportBudget(bytes: 400_000)
        // Another listener has the most of it.
        #expect(budget.reserve(bytes: 240_000))
        let numbers = Numbers()
        let refused = Atomic(0)
        try await with(budget, meter: numbers.meter) { client in
            try await client.send([open(1), open(3)])
            let piece = [UInt8](repeating: 32, count: 10_000)
            var stream = 1
            while budget.refused == 0 {
                try await client.send(Frame.data, stream: stream, payload: piece)
                try await client.roundTrip()
                stream = 4 - stream
                #expect(budget.bytes <= 400_000)
            }
            let reply = try await client.reply(4 - stream)
            #expect(reply.status == 503)
            #expect(reply["retry-after"] == "1")
            #expect(client.goAways.isEmpty)
            // A piece of the other one may have come before the refusal was counted.
            try await client.send(Frame.data, flags: Frame.endStream, stream: stream)
            let other = try await client.reply(stream)
            #expect([200, 400, 503].contains(other.status))
            refused.store(other.status == 503 ? 2 : 1, ordering: .relaxed)
        }
        #expect(numbers["http_requests_refused_total", "503"] == Double(refused.load(ordering: .relaxed)))
    }

    @Test("A reply that there is no room for gives way to 503")
    func reply() async throws {
        let budget = TransportBudget(bytes: 400_000)
        // Another listener has the most of it.
        #expect(budget.reserve(bytes: 240_000))
        let handler = FakeHandler { _ in .success(["a": .string(String(repeating: "a", count: 200_000))]) }
        try await with(budget, handler) { client in
            try await client.post(1, exchange, "{}")
            let reply = try await client.reply(1)
            #expect(reply.status == 503)
            #expect(reply["retry-after"] == "1")
            #expect(reply["date"] != nil)
        }
        let text = try await TestServer.with(handler, budget: budget) { port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(TestServer.post(exchange, "{}"))
                return try await connection.reply().status
            }
        }
        #expect(text == 503)
    }

    @Test("In HTTP/1.1 the request beyond the last place is answered with 503, and a later one as usual")
    func messages() async throws {
        let budget = TransportBudget(streams: 2)
        let numbers = Numbers()
        try await TestServer.with(meter: numbers.meter, budget: budget) { port, _ in
            let get: @Sendable () async throws -> RawReply = {
                try await RawConnection.with(port: port) { connection in
                    try await connection.send(TestServer.get("/healthz"))
                    return try await connection.reply()
                }
            }
            try await RawConnection.with(port: port, sending: "G") { first in
                try await RawConnection.with(
                    port: port, sending: TestServer.post(exchange, "{}").replacing("{}", with: "{")
                ) { _ in
                    while budget.streams != 2 { await Task.yield() }
                    let reply = try await get()
                    #expect(reply.status == 503)
                    #expect(reply["retry-after"] == "1")
                    #expect(reply["connection"] == "close")
                    try await first.send("ET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(try await first.reply().status == 200)
                    while budget.streams != 1 { await Task.yield() }
                    #expect(try await get().status == 200)
                }
            }
            while budget.bytes != 0 || budget.streams != 0 { await Task.yield() }
        }
        #expect(numbers["http_requests_refused_total", "503"] == 1)
    }

    @Test(
        "In HTTP/1.1 bytes that are not a whole request yet count",
        arguments: ["GET / HTTP/1.1\r\nHost: a\r\nX: ", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"])
    func partial(_ beginning: String) async throws {
        let budget = TransportBudget()
        try await TestServer.with(budget: budget) { port, _ in
            try await RawConnection.with(port: port, sending: beginning) { connection in
                while budget.streams != 1 { await Task.yield() }
                let before = budget.bytes
                try await connection.send(String(repeating: "x", count: 14_000))
                while budget.bytes < before + 11_000 { await Task.yield() }
            }
            while budget.bytes != 0 || budget.streams != 0 { await Task.yield() }
        }
    }

    @Test("A connection that there is no room for is closed, and the others continue")
    func connections() async throws {
        let budget = TransportBudget(bytes: 420_000)
        // Another listener has the most of it; one connection is less than half of what is left, and two are not.
        #expect(budget.reserve(bytes: 350_000))
        try await TestServer.with(budget: budget) { port, _ in
            try await RawConnection.with(port: port) { first in
                while budget.bytes == 350_000 { await Task.yield() }
                await #expect(throws: (any Error).self) {
                    try await RawConnection.with(port: port, sending: TestServer.get("/healthz")) {
                        try await $0.reply()
                    }
                }
                // It had its place before; for its request there is none.
                try await first.send(TestServer.get("/healthz"))
                #expect(try await first.reply().status == 503)
            }
            budget.release(bytes: 350_000)
            while budget.bytes != 0 { await Task.yield() }
            let status = try await RawConnection.with(port: port) { connection in
                try await connection.send(TestServer.get("/healthz"))
                return try await connection.reply().status
            }
            #expect(status == 200)
        }
        #expect(budget.refused >= 2)
    }

    @Test(
        "A client that announces the largest table of fields gets replies as for the usual one, all of the same length")
    func table() async throws {
        try await with(TransportBudget(), settings: [(1, .max)]) { client in
            for number in 0..<500 {
                // The test's decoder refuses a change of the table's size beyond 4096.
                try await client.get(2 * number + 1, "/healthz")
                #expect(try await client.reply(2 * number + 1).status == 200)
            }
        }
    }
}
