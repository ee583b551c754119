import AssayCore
import AssayHTTPClient
import AssayKit
import AssayTestSupport
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// No bytes of a server that is called end the process, which is this one.
@Suite("Responses of any form", .timeLimit(.minutes(20)))
struct HostileResponseTests {
    /// Another one in each run; `ASSAY_SEED` repeats one.
    private static let seed =
        ProcessInfo.processInfo.environment["ASSAY_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))

    @Test("after each response of any form, the next valid one is read")
    func responses() async throws {
        // Before anything is sent: a process that has ended says nothing any more.
        print("responses of any form: ASSAY_SEED=\(Self.seed)")
        let script = ResponseScript(seed: Self.seed)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ScriptedServer(script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let url = try #require(EndpointURL("http://127.0.0.1:\(port)/"))
        let client = try HTTPClientService(HTTPClientOptions(connectionsPerServer: 2))
        for round in 0..<600 {
            script.isValid.store(false, ordering: .relaxed)
            // Some of them never end.
            let method = [OutboundRequest.Method.get, .post][round % 2]
            _ = try? await client.send(OutboundRequest(method, url, timeLimit: .milliseconds(50)))
            guard round.isMultiple(of: 20) else { continue }
            script.isValid.store(true, ordering: .relaxed)
            // Connections that are kept may still hold what was sent before.
            var bodies: [[UInt8]] = []
            for _ in 0..<6 where !bodies.contains(ResponseScript.body) {
                let answer = try? await client.send(OutboundRequest(.get, url, timeLimit: .seconds(60)))
                if let answer { bodies.append(answer.body) }
            }
            #expect(bodies.contains(ResponseScript.body), "ASSAY_SEED=\(Self.seed), round \(round)")
        }
        await client.shutDown()
        try await server.close()
    }
}

/// What the server answers next.
private final class ResponseScript: Sendable {
    static let body = Array("hello".utf8)

    /// Whether what is answered is valid.
    let isValid = Atomic(true)
    private let random: Mutex<SplitMix>

    private static let statuses = [
        "HTTP/1.1 200 OK", "HTTP/1.1 200", "HTTP/1.0 200 OK", "HTTP/1.1 100 Continue",
        "HTTP/1.1 101 Switching Protocols",
        "HTTP/1.1 103 Early Hints", "HTTP/1.1 204 No Content", "HTTP/1.1 205 Reset", "HTTP/1.1 304 Not Modified",
        "HTTP/1.1 302 Found",
        "HTTP/1.1 407 Proxy", "HTTP/1.1 999 x", "HTTP/1.1 1000 x", "HTTP/1.1 -1 x", "HTTP/2.0 200 OK",
        "HTTP/9.9 200 OK", "HTTP/0.9 200",
        "HTTP/1.1 099 x", "HTTP/1.1  200 OK", "ICY 200 OK", "GET / HTTP/1.1", "",
    ]
    private static let fields = [
        "Content-Length: 5", "Content-Length: 0", "Content-Length: -1", "Content-Length: +5",
        "Content-Length: 18446744073709551615",
        "Content-Length: 18446744073709551616", "Content-Length: 5, 5", "Content-Length: 0x5", "Content-Length:",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: identity",
        "Connection: close",
        "Connection: keep-alive", "Connection: upgrade", "Upgrade: h2c", "Upgrade: websocket",
        "Keep-Alive: timeout=-1, max=99999999999999999999",
        "Keep-Alive: timeout=9223372036854775807", "Date: x", "Retry-After: -1", "Retry-After: 99999999999999999999",
        "Location: ::",
        "Content-Encoding: gzip", "Trailer: x", "x", ": x", "x : y", " x: y", "x: \u{0}", "x: \u{E9}",
        "Set-Cookie: =; Expires=x; Max-Age=-1",
        "Set-Cookie: a=b; Expires=Thu, 01 Jan 99999 00:00:00 GMT",
    ]
    private static let bodies = [
        "hello", "", "hello, and more", "5\r\nhello\r\n0\r\n\r\n", "FFFFFFFFFFFFFFFF\r\n", "FFFFFFFFFFFFFFFFF\r\n",
        "-1\r\n", "0\r\n\r\n",
        "0\r\nX: y\r\n\r\n", "0\r\nContent-Length: 5\r\n\r\nhello", "5;x=y\r\nhello\r\n0\r\n", "\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
    ]

    init(seed: UInt64) {
        random = Mutex(SplitMix(seed: seed))
    }

    /// The parts that are written one after the other, and whether the connection is closed then.
    func next() -> (parts: [[UInt8]], closes: Bool) {
        guard !isValid.load(ordering: .relaxed) else {
            return ([Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8) + Self.body], false)
        }
        return random.withLock { random in
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let fields = (0..<Int.random(in: 0...3, using: &random)).map { _ in random.pick(Self.fields) }
                let lines = [random.pick(Self.statuses)] + fields + ["", random.pick(Self.bodies)]
                bytes += Array(lines.joined(separator: "\r\n").utf8)
            }
            if random.happens(onceIn: 3) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let cut = Int.random(in: 0...bytes.count, using: &random)
            return ([Array(bytes[..<cut]), Array(bytes[cut...])], !random.happens(onceIn: 4))
        }
    }
}

/// Answers whatever it reads.
private final class ScriptedServer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: ResponseScript

    init(_ script: ResponseScript) {
        self.script = script
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let (parts, closes) = script.next()
        for part in parts { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: part)), promise: nil) }
        if closes { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
