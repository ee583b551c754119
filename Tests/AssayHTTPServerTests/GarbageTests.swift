import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import NIOCore
import NIOEmbedded
import Testing

@testable import AssayHTTPServer

/// Good requests and rubbish in any order, cut anywhere: what the network does to what anybody may send.
@Suite("Garbage")
struct GarbageTests {
    private static let pieces = [
        "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /v1/jwks HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
        "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\nT: u\r\n\r\n",
        "POST /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
        "GET /d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "\r\n", "\n", "\0", "0\r\n\r\n", "GARBAGE\r\n", ": ",
        "POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n", "\u{16}\u{03}\u{01}",
        "GET /f HTTP/1.1\r\n\r\n", "Content-Length: 3\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "ffffffff\r\n",
    ]

    @Test("however bytes are cut, they are the same requests, and the first fault is the last", arguments: 0..<200)
    func cuts(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        var bytes = (0..<Int.random(in: 1...12, using: &random)).flatMap { _ in
            Array(Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)].utf8)
        }
        // In one of two cases a few bytes are changed.
        if Bool.random(using: &random) {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
        }

        let whole = try inputs(of: [bytes])
        var parts: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...min(rest.count, 20), using: &random)
            parts.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(try inputs(of: parts) == whole)
        #expect(try inputs(of: bytes.map { [$0] }) == whole)
        #expect(whole.dropLast().allSatisfy { !$0.hasPrefix("fault") })
    }

    @Test("a thousand requests in one read are answered, and no more of them wait than may")
    func manyAtOnce() throws {
        let connection = try EmbeddedConnection()
        try connection.channel.writeInbound(ByteBuffer(string: String(repeating: Self.pieces[0], count: 1500)))
        var texts: [String] = []
        while let text = try connection.input() { texts.append(text) }
        #expect(texts.count == 1001)
        #expect(texts.last?.hasPrefix("fault 429") == true)
    }

    private func inputs(of parts: [[UInt8]]) throws -> [String] {
        let connection = try EmbeddedConnection()
        for part in parts { try connection.channel.writeInbound(ByteBuffer(bytes: part)) }
        var texts: [String] = []
        while let text = try connection.input() { texts.append(text) }
        _ = try? connection.channel.finish(acceptAlreadyClosed: true)
        return texts
    }
}
