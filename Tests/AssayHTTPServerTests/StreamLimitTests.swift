import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Foundation
import NIOSSL
import ServiceLifecycle
import Synchronization
import Testing

private let exchange = "/v1/projects/p/apps/a:exchangeDebugToken"
private typealias Frame = StreamClient.Frame

/// Floods of frames that cost a client little, and what the connection ends with.
private let floods: [(name: String, code: UInt32, frames: [[UInt8]])] = [
    (
        "streams that are reset at once", 11,
        (0..<2000).map {
            StreamClient.head(2 * $0 + 1, StreamClient.fields("GET", "/healthz"))
                + StreamClient.frame(Frame.reset, stream: 2 * $0 + 1, payload: [0, 0, 0, 8])
        }
    ),
    ("PING", 11, (0..<600).map { _ in StreamClient.frame(Frame.ping, payload: Array(repeating: 1, count: 8)) }),
    ("SETTINGS", 11, (0..<600).map { _ in StreamClient.frame(Frame.settings, payload: [0, 4, 0, 1, 0, 0]) }),
    (
        "CONTINUATION", 11,
        [StreamClient.frame(Frame.headers, stream: 1, payload: StreamClient.block([("x", "y")]))]
            + (0..<600).map { _ in StreamClient.frame(Frame.continuation, stream: 1) }
    ),
    (
        "empty DATA", 11,
        [StreamClient.head(1, StreamClient.fields("POST", exchange), ends: false)]
            + (0..<600).map { _ in StreamClient.frame(Frame.data, stream: 1) }
    ),
    (
        "heads that are not valid", 11,
        (0..<600).map { StreamClient.head(2 * $0 + 1, StreamClient.fields("GET", "/healthz", [("connection", "x")])) }
    ),
    (
        "more streams than there may be", 1,
        (0..<600).map { StreamClient.head(2 * $0 + 1, StreamClient.fields("POST", exchange), ends: false) }
    ),
    (
        "a head without end", 1,
        [StreamClient.frame(Frame.headers, stream: 1, payload: [UInt8](repeating: 0, count: 16_384))]
    ),
    (
        "a head that is no HPACK", 9,
        [StreamClient.frame(Frame.headers, flags: 5, stream: 1, payload: [0xFF, 0xFF, 0xFF])]
    ),
    (
        "a frame that is too large", 6,
        [StreamClient.frame(Frame.data, stream: 1, payload: [UInt8](repeating: 0, count: 20_000))]
    ),
    ("DATA on no stream", 1, [StreamClient.frame(Frame.data, stream: 0, payload: [1])]),
]

@Suite("What HTTP/2 clients can make the server hold or wait for", .timeLimit(.minutes(20)))
struct StreamLimitTests {
    /// Runs a client against a server.
    private func with<Result: Sendable>(
        _ handler: FakeHandler = FakeHandler(), limits: HTTPLimits = .patient,
        settings: [(UInt16, UInt32)] = [],
        _ body: @escaping @Sendable (inout StreamClient, ServiceGroup) async throws -> Result
    ) async throws -> Result {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        return try await TestServer.with(handler, limits: limits, certificate: files.open()) { port, group in
            try await StreamClient.with(port: port, identity: identity, settings: settings) { client in
                try await body(&client, group)
            }
        }
    }

    @Test("a flood ends the connection, with the reason", arguments: floods.indices)
    func flood(index: Int) async throws {
        let (name, code, frames) = floods[index]
        try await with { client, _ in
            // The server may close while this is being sent.
            try? await client.send(frames)
            do {
                try await client.waitForGoAway(code)
            } catch {
                Issue.record("\(name): \(client.goAways)")
            }
            try await client.waitForEnd()
        }
    }

    @Test("clients of a trusted proxy that leave do not end its connection")
    func resetsBehindProxy() async throws {
        let identity = try TestIdentity()
        let certificate = try IdentityFiles(identity).open()
        let proxies = try [#require(IPRange("127.0.0.0/8"))]
        try await TestServer.with(certificate: certificate, proxies: proxies) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                for round in 0..<20 {
                    let first = 202 * round + 1
                    try await client.send(
                        (0..<100).map { first + 2 * $0 }.flatMap {
                            [
                                StreamClient.head($0, StreamClient.fields("GET", "/healthz")),
                                StreamClient.frame(Frame.reset, stream: $0, payload: [0, 0, 0, 8]),
                            ]
                        })
                    try await client.get(first + 200, "/healthz")
                    #expect(try await client.reply(first + 200).status != 0)
                }
                #expect(client.goAways.isEmpty)
            }
        }
    }

    @Test("requests whose streams are reset count as long as they are being answered")
    func rapidReset() async throws {
        var limits = HTTPLimits.patient
        limits.streams = 10
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        let handler = FakeHandler { _ in
            for await _ in ends {}
            return .success([:])
        }
        try await with(handler, limits: limits) { client, _ in
            try await client.send(
                (0..<50).flatMap {
                    [
                        StreamClient.head(2 * $0 + 1, StreamClient.fields("POST", exchange)),
                        StreamClient.frame(Frame.reset, stream: 2 * $0 + 1, payload: [0, 0, 0, 8]),
                    ]
                })
            try await client.waitForGoAway(11)
            continuation.finish()
            try await client.waitForEnd()
        }
        #expect(handler.calls.count <= 10)
    }

    @Test("after many refused requests the client is to begin a new connection, and what it has begun is answered")
    func manyRefused() async throws {
        var limits = HTTPLimits.patient
        limits.streams = 10
        try await with(limits: limits) { client, _ in
            try await client.send([StreamClient.head(1, StreamClient.fields("POST", exchange), ends: false)])
            for stream in stride(from: 3, to: 23, by: 2) {
                try await client.get(stream, "/healthz", [("host", "other")])
                #expect(try await client.reply(stream).status == 400)
            }
            try await client.waitForGoAway()
            try await client.send(Frame.data, flags: Frame.endStream, stream: 1, payload: Array("{}".utf8))
            #expect(try await client.reply(1).status == 200)
            try await client.waitForEnd()
            #expect(client.goAways == [0, 0])
        }
    }

    @Test("a client that continues anyway is cut off")
    func farTooManyRefused() async throws {
        var limits = HTTPLimits.patient
        limits.streams = 10
        try await with(limits: limits) { client, _ in
            try await client.send([StreamClient.head(1, StreamClient.fields("POST", exchange), ends: false)])
            for stream in stride(from: 3, to: 41, by: 2) {
                try await client.get(stream, "/healthz", [("host", "other")])
                #expect(try await client.reply(stream).status == 400)
            }
            try await client.get(41, "/healthz", [("host", "other")])
            try await client.waitForGoAway(11)
            try await client.waitForEnd()
        }
    }

    @Test("a body beyond the limit is answered at once, declared or not, and the connection continues")
    func largeBody() async throws {
        var limits = HTTPLimits.patient
        limits.bodyBytes = 1000
        try await with(limits: limits) { client, _ in
            let body = String(repeating: " ", count: 1001)
            try await client.send([
                StreamClient.head(
                    1, StreamClient.fields("POST", exchange, [("content-length", "1001")]), ends: false)
            ])
            #expect(try await client.reply(1).error("code") == 413)
            try await client.send([
                StreamClient.head(3, StreamClient.fields("POST", exchange), ends: false),
                StreamClient.frame(Frame.data, stream: 3, payload: Array(body.utf8)),
            ])
            #expect(try await client.reply(3).error("code") == 413)
            try await client.post(5, exchange, "{}" + body.dropFirst(3))
            #expect(try await client.reply(5).status == 200)
            #expect(client.goAways.isEmpty)
        }
    }

    @Test("a head of exactly the limits is taken, with one byte or one field more it is not")
    func largeHead() async throws {
        let plain = StreamClient.fields("GET", "/healthz")
        var limits = HTTPLimits.patient
        limits.headerBytes = 500
        limits.headerFields = plain.count + 3
        let room = 500 - plain.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }
        let rows: [(headers: [(String, String)], status: Int)] = [
            ([("x", String(repeating: "a", count: room - 1))], 200),
            ([("x", String(repeating: "a", count: room))], 431),
            ([("x", "1"), ("x", "2"), ("x", "3")], 200), ([("x", "1"), ("x", "2"), ("x", "3"), ("x", "4")], 431),
        ]
        try await with(limits: limits) { client, _ in
            for (index, row) in rows.enumerated() {
                let stream = 2 * index + 1
                try await client.send([
                    StreamClient.head(stream, StreamClient.fields("GET", "/healthz", row.headers))
                ])
                let reply = try await client.reply(stream)
                #expect(reply.status == row.status, "\(index)")
            }
        }
    }

    @Test("one byte more than a connection's streams may hold is refused at once, before the request is whole")
    func oneByteMore() async throws {
        let head = StreamClient.fields("POST", exchange)
        let size = head.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }
        var limits = HTTPLimits.patient
        limits.streamBytes = 2000
        try await with(limits: limits) { client, _ in
            try await client.send([
                StreamClient.head(1, head, ends: false),
                StreamClient.frame(
                    Frame.data, stream: 1, payload: [UInt8](repeating: UInt8(ascii: " "), count: 2000 - size)),
                StreamClient.frame(Frame.data, stream: 1, payload: [UInt8(ascii: " ")]),
            ])
            #expect(try await client.reply(1).error("status") == "RESOURCE_EXHAUSTED")
        }
    }

    @Test("a body that drips in is answered with 408, and the others are not kept waiting")
    func slowBody() async throws {
        var limits = HTTPLimits.patient
        limits.bodyTime = .milliseconds(300)
        try await with(limits: limits) { client, _ in
            try await client.send([StreamClient.head(1, StreamClient.fields("POST", exchange), ends: false)])
            try await client.get(3, "/healthz")
            #expect(try await client.reply(3).status == 200)
            #expect(try await client.reply(1).error("status") == "DEADLINE_EXCEEDED")
        }
    }

    @Test("what all streams hold together is bounded")
    func heldBytes() async throws {
        var limits = HTTPLimits.patient
        limits.streamBytes = 40_000
        try await with(limits: limits) { client, _ in
            let body = [UInt8](repeating: UInt8(ascii: " "), count: 16_000)
            for stream in [1, 3, 5] {
                try await client.send([
                    StreamClient.head(stream, StreamClient.fields("POST", exchange), ends: false),
                    StreamClient.frame(Frame.data, stream: stream, payload: body),
                ])
            }
            #expect(try await client.reply(5).error("status") == "RESOURCE_EXHAUSTED")
            // What is answered makes room again.
            for stream in [1, 3] {
                try await client.send(Frame.data, flags: Frame.endStream, stream: stream, payload: Array("{}".utf8))
                #expect(try await client.reply(stream).status == 200)
            }
            try await client.post(7, exchange, String(decoding: body, as: UTF8.self) + "{}")
            #expect(try await client.reply(7).status == 200)
        }
    }

    @Test("replies that the client does not take count, too")
    func untaken() async throws {
        var limits = HTTPLimits.patient
        limits.streamBytes = 40_000
        let handler = FakeHandler { _ in .success(["text": .string(String(repeating: "x", count: 20_000))]) }
        try await with(handler, limits: limits, settings: [(4, 0)]) { client, _ in
            for (stream, status) in [(1, "200"), (3, "200"), (5, "429")] {
                try await client.post(stream, exchange, "{}")
                #expect(try await client.status(stream) == status)
            }
            // What is taken makes room again.
            let window = StreamClient.bytes(UInt32(30_000))
            try await client.send(Frame.windowUpdate, stream: 1, payload: window)
            #expect(try await client.reply(1).status == 200)
            try await client.post(7, exchange, "{}")
            #expect(try await client.status(7) == "200")
        }
        #expect(handler.calls.count == 3)
    }

    @Test("a stream whose reply is not taken is given up after a while")
    func givenUp() async throws {
        var limits = HTTPLimits.patient
        limits.idleTime = .milliseconds(300)
        try await with(limits: limits, settings: [(4, 0)]) { client, _ in
            try await client.get(1, "/healthz")
            #expect(try await client.status(1) == "200")
            guard case .reset = try await client.outcome(1) else {
                Issue.record("a reply came where there was no window for it")
                return
            }
        }
    }

    @Test(
        "a connection without requests is closed after its time, at the beginning and later", arguments: [false, true])
    func idle(afterRequest: Bool) async throws {
        var limits = HTTPLimits.patient
        if afterRequest { limits.idleTime = .milliseconds(200) } else { limits.headTime = .seconds(10) }
        try await with(limits: limits) { client, _ in
            try await client.roundTrip()
            if afterRequest {
                try await client.get(1, "/healthz")
                #expect(try await client.reply(1).status == 200)
            }
            try await client.waitForGoAway()
            try await client.waitForEnd()
            #expect(Set(client.goAways) == [0])
        }
    }

    @Test("an idle connection makes room for others when there are as many as there may be")
    func room() async throws {
        var limits = HTTPLimits.patient
        limits.maximumConnections = 2
        limits.idleTime = .seconds(3600)
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        try await TestServer.with(limits: limits, certificate: files.open()) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { first in
                try await first.get(1, "/healthz")
                #expect(try await first.reply(1).status == 200)
                try await StreamClient.with(port: port, identity: identity) { second in
                    try await second.get(1, "/healthz")
                    #expect(try await second.reply(1).status == 200)
                    try await first.waitForEnd()
                }
            }
        }
    }

    @Test("at shutdown the client is told, and streams that have begun are answered", arguments: [true, false])
    func shutdown(answersPings: Bool) async throws {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        let handler = FakeHandler { call in
            if call.body["debugToken"] == "waits" {
                started.finish()
                for await _ in ends {}
            }
            return .success(FakeHandler.echo(call))
        }
        try await with(handler) { client, group in
            client.answersPings = answersPings
            try await client.post(1, exchange, #"{"debugToken":"waits"}"#)
            try await client.send([StreamClient.head(3, StreamClient.fields("POST", exchange), ends: false)])
            try await client.roundTrip()
            for await _ in starts {}
            await group.triggerGracefulShutdown()
            try await client.waitForGoAway()
            #expect(client.goAways == [0])
            // One that crosses with the news is answered like the others.
            try await client.post(5, exchange, "{}")
            #expect(try await client.reply(5).status == 200)
            try await client.send(Frame.data, flags: Frame.endStream, stream: 3, payload: Array("{}".utf8))
            #expect(try await client.reply(3).status == 200)
            continuation.finish()
            #expect(try await client.reply(1).json["body"] == ["debugToken": "waits"])
            try await client.waitForEnd()
            #expect(client.goAways == [0, 0])
        }
        #expect(handler.calls.count == 3)
    }
}
