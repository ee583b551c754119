import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Foundation
import NIOSSL
import Synchronization
import Testing

private let exchange = "/v1/projects/p/apps/a:exchangeDebugToken"

/// Requests of which each is the same in both versions: the method, the path, fields, the body.
private let requests: [(String, String, [(String, String)], String?)] = [
    ("GET", "/healthz", [], nil),
    ("HEAD", "/healthz", [], nil),
    ("GET", "/v1/jwks", [], nil),
    ("GET", "/v1/jwks", [("if-none-match", "*")], nil),
    ("POST", exchange, [], #"{"debugToken":"x"}"#),
    ("POST", exchange, [("authorization", "Bearer abc")], ""),
    ("POST", exchange + "?key=k", [("origin", "https://app.example.com")], "{}"),
    ("POST", exchange, [], "{"),
    ("POST", exchange, [("content-encoding", "gzip")], "x"),
    ("GET", exchange, [], nil),
    ("OPTIONS", exchange, [("origin", "https://a.example"), ("access-control-request-method", "POST")], nil),
    ("GET", "/nothing", [], nil),
    ("GET", "/%zz", [], nil),
    ("GET", "https://a/healthz", [], nil),
    ("PATCH", "/healthz", [], nil),
    ("POST", exchange, [("x-http-method-override", "GET")], ""),
]

/// Heads that are not valid, and what comes of them: a reply with this status, or a reset of the stream.
private let malformedHeads: [(name: String, fields: [(String, String)], status: Int?)] = [
    ("no method", [(":scheme", "https"), (":path", "/healthz"), (":authority", "a")], nil),
    ("no path", [(":method", "GET"), (":scheme", "https"), (":authority", "a")], nil),
    ("no scheme", [(":method", "GET"), (":path", "/healthz"), (":authority", "a")], nil),
    ("empty path", StreamClient.fields("GET", ""), nil),
    ("two paths", StreamClient.fields("GET", "/healthz") + [(":path", "/metrics")], nil),
    ("two methods", [(":method", "POST")] + StreamClient.fields("GET", "/healthz"), nil),
    ("an unknown pseudo field", [(":protocol", "x")] + StreamClient.fields("GET", "/healthz"), nil),
    ("a status", [(":status", "200")] + StreamClient.fields("GET", "/healthz"), nil),
    ("a pseudo field behind others", [("accept", "*/*")] + StreamClient.fields("GET", "/healthz"), nil),
    ("upper case", StreamClient.fields("GET", "/healthz", [("Accept", "*/*")]), nil),
    ("a field of the connection", StreamClient.fields("GET", "/healthz", [("connection", "close")]), nil),
    ("a transfer coding", StreamClient.fields("GET", "/healthz", [("transfer-encoding", "chunked")]), nil),
    ("a line's end", StreamClient.fields("GET", "/healthz", [("x", "a\r\nb: c")]), nil),
    ("a line's end in the path", StreamClient.fields("GET", "/healthz\r\nx: y"), nil),
    ("a length without a body", StreamClient.fields("GET", "/healthz", [("content-length", "5")]), nil),
    ("two lengths", StreamClient.fields("GET", "/healthz", [("content-length", "0"), ("content-length", "1")]), nil),
    ("a space in the path", StreamClient.fields("GET", "/a b"), nil),
    ("a path that is no text", StreamClient.fields("GET", "/a\u{E9}"), 400),
    ("no authority and no host", [(":method", "GET"), (":scheme", "https"), (":path", "/healthz")], 400),
    ("another host", StreamClient.fields("GET", "/healthz", [("host", "b")]), 400),
    ("too many fields", StreamClient.fields("GET", "/healthz", (0..<120).map { ("x-\($0)", "y") }), 431),
    ("a large field", StreamClient.fields("GET", "/healthz", [("x", String(repeating: "y", count: 17_000))]), 431),
]

@Suite("HTTP/2", .timeLimit(.minutes(20)))
struct HTTP2Tests {
    @Test(
        "it is spoken with those who ask for it in the handshake, and with nobody else",
        arguments: [
            (["h2", "http/1.1"], true), (["h2"], true), (["http/1.1"], false), ([], false), (["spdy/3"], false),
        ])
    func negotiation(offered: [String], isSpoken: Bool) async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let client = try identity.clientContext { $0.applicationProtocols = offered }
        try await TestServer.with(certificate: files.open()) { port, _ in
            try await RawConnection.with(port: port, tls: client) { connection in
                guard isSpoken else {
                    try await connection.send(TestServer.get("/healthz"))
                    #expect(try await connection.reply().status == 200)
                    return
                }
                // The server's first frame are its settings.
                try await connection.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
                #expect(try await connection.read { $0.count >= 9 ? 9 : nil }[3] == StreamClient.Frame.settings)
            }
        }
    }

    @Test("without TLS there is none")
    func withoutTLS() async throws {
        try await TestServer.with { port, _ in
            let rest = try await RawConnection.with(port: port) { connection in
                try await connection.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
                return try await connection.rest()
            }
            #expect(String(decoding: rest, as: UTF8.self).hasPrefix("HTTP/1.1 400"))
        }
    }

    @Test("every request is answered as over HTTP/1.1", arguments: requests.indices)
    func sameAnswers(index: Int) async throws {
        let (method, path, fields, body) = requests[index]
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let tls = try identity.clientContext()
        let handler = FakeHandler()
        try await TestServer.with(handler, certificate: files.open()) { port, _ in
            let first = try await RawConnection.with(port: port, tls: tls) { connection in
                let lines = (fields + (body.map { [("content-length", "\($0.utf8.count)")] } ?? []))
                    .map { "\($0.0): \($0.1)\r\n" }.joined()
                try await connection.send("\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\(body ?? "")")
                return try await connection.reply(hasBody: method != "HEAD")
            }
            let second = try await StreamClient.with(port: port, identity: identity) { client in
                try await client.request(
                    1, StreamClient.fields(method, path, fields), body: body.map { Array($0.utf8) })
                return try await client.reply(1)
            }
            #expect(first.status == second.status)
            #expect(first.body == second.body)
            func shown(_ reply: RawReply) -> [String] {
                reply.headers.filter { $0.name != "date" }.map { "\($0.name): \($0.value)" }.sorted()
            }
            #expect(shown(first) == shown(second))
            #expect(second["date"] != nil)
        }
        let calls = handler.calls
        #expect(calls.count % 2 == 0)
        #expect(calls.first?.body == calls.last?.body)
        #expect(calls.first?.credentials == calls.last?.credentials)
        #expect(calls.allSatisfy { $0.peer == "127.0.0.1" })
    }

    @Test("streams are answered beside each other, also where one waits for another")
    func beside() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let (others, continuation) = AsyncStream.makeStream(of: Void.self)
        let handler = FakeHandler { call in
            if call.body["debugToken"] == "waits" {
                // Answered when all the others are.
                for await _ in others {}
            }
            return .success(FakeHandler.echo(call))
        }
        try await TestServer.with(handler, certificate: files.open()) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                try await client.post(1, exchange, #"{"debugToken":"waits"}"#)
                for stream in stride(from: 3, to: 103, by: 2) {
                    try await client.post(stream, exchange, #"{"debugToken":"\#(stream)"}"#)
                }
                for stream in stride(from: 3, to: 103, by: 2) {
                    let reply = try await client.reply(stream)
                    #expect(try reply.json["body"] == ["debugToken": .string("\(stream)")])
                }
                continuation.finish()
                #expect(try await client.reply(1).json["body"] == ["debugToken": "waits"])
            }
        }
    }

    @Test("a stream whose client takes no reply keeps none of the others waiting")
    func slowStream() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        try await TestServer.with(certificate: files.open()) { port, _ in
            // Without a window no byte of a body is sent.
            try await StreamClient.with(port: port, identity: identity, settings: [(4, 0)]) { client in
                try await client.get(1, "/healthz")
                try await client.get(3, "/healthz")
                try await client.send(
                    StreamClient.Frame.windowUpdate, stream: 3, payload: StreamClient.bytes(UInt32(1000)))
                #expect(try await client.reply(3).status == 200)
                try await client.send(
                    StreamClient.Frame.windowUpdate, stream: 1, payload: StreamClient.bytes(UInt32(1000)))
                #expect(try await client.reply(1).status == 200)
            }
        }
    }

    @Test("a head that is not valid ends its stream and no other", arguments: malformedHeads.indices)
    func malformed(index: Int) async throws {
        let (name, fields, status) = malformedHeads[index]
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let numbers = Numbers()
        try await TestServer.with(meter: numbers.meter, certificate: files.open()) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                // Until the server's settings have come, heads are smaller.
                try await client.roundTrip()
                try await client.request(1, fields)
                switch try await client.outcome(1) {
                case .reply(let reply): #expect(reply.status == status, "\(name)")
                case .reset(let code): #expect(status == nil && code == 1, "\(name)")
                }
                try await client.get(3, "/healthz")
                #expect(try await client.reply(3).status == 200)
                #expect(client.goAways.isEmpty)
            }
        }
        #expect(numbers["http_requests_refused_total", "\(status ?? 400)"] == 1)
    }

    @Test("trailers are taken and mean nothing")
    func trailers() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        try await TestServer.with(certificate: files.open()) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                try await client.send([
                    StreamClient.head(1, StreamClient.fields("POST", exchange), ends: false),
                    StreamClient.frame(StreamClient.Frame.data, stream: 1, payload: Array("{}".utf8)),
                    StreamClient.head(1, [("x-checksum", "1")]),
                ])
                #expect(try await client.reply(1).status == 200)
            }
        }
    }

    @Test("a client that asks first whether it may send the body is told so")
    func expectation() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        try await TestServer.with(certificate: files.open()) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                let fields = StreamClient.fields("POST", exchange, [("expect", "100-continue")])
                try await client.send([StreamClient.head(1, fields, ends: false)])
                try await client.roundTrip()
                #expect(client.continues == [1])
                try await client.send(
                    StreamClient.Frame.data, flags: StreamClient.Frame.endStream, stream: 1, payload: Array("{}".utf8))
                #expect(try await client.reply(1).status == 200)
            }
        }
    }
}
