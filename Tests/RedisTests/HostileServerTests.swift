import AssayCore
import NIOCore
import Testing

@testable import AssayRedis

@Suite struct HostileServerTests {
    private static let answers: [(String, String)] = [
        ("a string of a gigabyte", "$1073741824\r\n"), ("a length beyond 64 bits", "$99999999999999999999\r\n"),
        ("a length beyond 32 bits", "*4294967297\r\n"), ("an array of two milliards", "*2147483647\r\n"),
        ("a negative length", "*-2\r\n"), ("a negative string", "$-5\r\n"), ("a length that is none", "$1e3\r\n"),
        ("a length with a sign in it", "$1-1\r\n"), ("arrays in arrays", String(repeating: "*1\r\n", count: 10)),
        (
            "wide arrays in wide arrays",
            String(repeating: "*20000\r\n", count: 3) + String(repeating: "*20000\r\n:1\r\n", count: 30)
        ),
        ("a page of the web", "HTTP/1.1 400 Bad Request\r\n"), ("zeros", "\0\0\0\0"),
        ("a line of its own kind", "!5\r\n"),
        ("a number without an end", ":" + String(repeating: "1", count: 100)),
        ("a status without an end", "+" + String(repeating: "a", count: 20_000)),
        ("an alert of TLS", "\u{15}\u{3}\u{3}"),
    ]

    @Test("an answer beyond the bounds is refused at once", arguments: answers)
    func beyondBounds(_ name: String, _ answer: String) async throws {
        var reader: ReplyReader? = ReplyReader()
        var failed = false
        do { _ = try reader?.read(ByteBuffer(string: answer)) } catch { failed = true }
        #expect(failed)
        // The same byte by byte: bounds do not depend on how the network cuts.
        reader = ReplyReader()
        failed = false
        for byte in Array(answer.utf8) where !failed {
            do { _ = try reader?.read(ByteBuffer(bytes: [byte])) } catch { failed = true }
        }
        #expect(failed)
        let server = try await ScriptedServer(Array(answer.utf8))
        defer { server.close() }
        let found = await error { _ = try await open("//127.0.0.1:\(server.port)#timeout=1000") }
        #expect(found?.code == .badAnswer, "\(found as Any)")
        #expect((found?.message.utf8.count ?? 0) < 1000)
    }

    @Test(
        "a server that never ends its answer costs a bound of memory and time",
        arguments: [
            ("*20000\r\n", "$1000000\r\n" + String(repeating: "x", count: 1_000_000) + "\r\n"),
            ("", String(repeating: "+OK\r\n", count: 10_000)), ("+", String(repeating: "a", count: 100_000)),
            ("*20000\r\n", String(repeating: ":1\r\n", count: 1000)),
        ])
    func neverEnding(_ first: String, _ forever: String) async throws {
        let server = try await ScriptedServer(Array(first.utf8), forever: Array(forever.utf8))
        defer { server.close() }
        let begin = ContinuousClock.now
        let found = await error { _ = try await open("//127.0.0.1:\(server.port)#timeout=500") }
        // A later exchange finds the connection closed.
        #expect(found != nil)
        #expect(ContinuousClock.now - begin < .seconds(10))
        #expect(server.sent.value < 32 << 20)
    }

    @Test("a server that says nothing is given up after the time limit")
    func silent() async throws {
        let server = try await ScriptedServer([])
        defer { server.close() }
        let begin = ContinuousClock.now
        #expect(await code { _ = try await open("//127.0.0.1:\(server.port)#timeout=200") } == .timedOut)
        #expect(ContinuousClock.now - begin < .seconds(10))
    }

    @Test("an error of the server does not forge lines of a log")
    func forgedLines() async throws {
        let server = try await ScriptedServer(
            Array("-ERR \u{1b}[31m evil\u{7f} \(String(repeating: "x", count: 900))\r\n".utf8))
        defer { server.close() }
        let found = await error { _ = try await open("//127.0.0.1:\(server.port)") }
        #expect(found?.code == .failed)
        #expect(found?.message.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } == true)
        #expect((found?.message.utf8.count ?? 0) < 400)
    }

    @Test("whatever has the form of the protocol is read as it was sent, wherever the network cuts it")
    func answersAsSent() throws {
        let text = "+OK\r\n-ERR x\r\n:-7\r\n$5\r\na\r\nb\0\r\n$-1\r\n*-1\r\n*0\r\n*2\r\n*1\r\n:1\r\n$0\r\n\r\n+\r\n"
        for size in 1...text.utf8.count {
            let reader = ReplyReader()
            var replies: [RedisReply] = []
            var rest = ByteBuffer(string: text)
            while rest.readableBytes > 0 {
                replies += try reader.read(rest.readSlice(length: min(size, rest.readableBytes)) ?? ByteBuffer())
            }
            #expect(
                replies.map { "\($0)" } == [
                    "status(\"OK\")", "\(RedisReply.error(ServerError("ERR x")))", "integer(-7)",
                    "bulk([97, 13, 10, 98, 0])", "null", "null",
                    "array([])",
                    "\(RedisReply.array([.array([.integer(1)]), .bulk([])]))", "status(\"\")",
                ])
        }
    }
}
