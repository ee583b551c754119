import NIOCore
import Testing

@testable import AssayStandard

@Suite("When calls of a load start")
struct LoadPacerTests {
    private static let millisecond: UInt64 = 1_000_000
    private static let mix = LoadMix([(.challenge, 1)])

    /// A server that answers in a millisecond, and not at all during a stall; one connection.
    private func latencies(_ pace: LoadPacer.Pace, stall: ClosedRange<UInt64>) -> [UInt64] {
        var pacer = LoadPacer(pace, Self.mix, start: 0)
        var latencies: [UInt64] = []
        var now: UInt64 = 0
        while now < 200 {
            pacer.advance(to: now * Self.millisecond)
            guard let arrival = pacer.next(at: now * Self.millisecond) else {
                now += 1
                continue
            }
            now = stall.contains(now) ? stall.upperBound + 1 : now + 1
            pacer.ended()
            latencies.append(now - arrival.due / Self.millisecond)
        }
        return latencies
    }

    @Test("In an open loop, latencies count from when calls were due, also for those that a stall kept from being sent")
    func openLoop() {
        let latencies = latencies(.rate(500), stall: 50...149)
        // Due every 2 ms: 100 ms without an answer delay the 50 calls that were due in it.
        #expect(latencies.prefix(25).allSatisfy { $0 == 1 })
        let delayed = latencies.filter { $0 > 10 }
        #expect((40...100).contains(delayed.count), "\(delayed)")
        #expect(latencies.max() == 100)
    }

    @Test("In a closed loop, one call alone sees the stall")
    func closedLoop() {
        #expect(latencies(.concurrency(1), stall: 50...149).filter { $0 > 10 } == [100])
    }

    @Test("Calls are due at equal distances from the beginning, without a sum of roundings")
    func distances() {
        var pacer = LoadPacer(.rate(3), Self.mix, start: 1000)
        pacer.advance(to: 1000 + 100 * 1_000_000_000)
        var dues: [UInt64] = []
        while let arrival = pacer.next(at: 0) { dues.append(arrival.due) }
        #expect(dues.count == 301)
        #expect(dues.first == 1000 && dues.last == 1000 + 100 * 1_000_000_000)
    }

    @Test("A closed loop has so many calls at once, and none after it was stopped")
    func concurrency() {
        var pacer = LoadPacer(.concurrency(2), Self.mix, start: 0)
        var dues = (1...3).map { pacer.next(at: $0)?.due }
        pacer.ended()
        dues.append(pacer.next(at: 4)?.due)
        pacer.ended()
        let waiting = pacer.stop()
        dues.append(pacer.next(at: 5)?.due)
        #expect(dues == [1, 2, nil, 4, nil])
        #expect(waiting.isEmpty)
    }

    @Test("Stopping an open loop returns the calls that were due and not sent")
    func stop() {
        var pacer = LoadPacer(.rate(1000), Self.mix, start: 0)
        pacer.advance(to: 10 * Self.millisecond)
        _ = pacer.next(at: 10 * Self.millisecond)
        let waiting = pacer.stop()
        #expect(waiting.map(\.due) == (1...10).map { $0 * Self.millisecond })
        pacer.advance(to: 20 * Self.millisecond)
        #expect(pacer.backlog == 0 && pacer.nextDue == nil)
    }
}

@Suite("The mix of a load")
struct LoadMixTests {
    @Test("After any number of calls each method had its share, up to one call")
    func shares() throws {
        var mix = try LoadMix("challenge=1,attest=1,assert=20,verify=50,consume=5,proxy=10")
        var counts = [Int](repeating: 0, count: LoadMethod.allCases.count)
        for call in 1...1000 {
            counts[mix.next().index] += 1
            for method in LoadMethod.allCases {
                let share = mix.share(of: method) * Double(call)
                #expect(abs(Double(counts[method.index]) - share) < 2, "\(method) after \(call)")
            }
        }
    }

    @Test(
        "A wrong mix is refused in words",
        arguments: [
            ("", "unknown method ''"), ("attest=1,attest=2", "'attest' is twice"), ("attest=-1", "weight of 'attest'"),
            ("attest=x", "weight of 'attest'"), ("attest=1,", "unknown method ''"),
            ("Attest", "unknown method 'Attest'"),
            ("attest=0", "no method"), ("attest=1000001", "0 to 1000000"),
        ])
    func wrong(_ text: String, _ words: String) {
        #expect {
            _ = try LoadMix(text)
        } throws: { error in
            "\(error)".contains(words)
        }
    }

    @Test("A weight of 0 leaves a method out, and a missing one is 1")
    func weights() throws {
        #expect(try LoadMix("attest=0,verify").text == "verify=1")
    }
}

@Suite("Responses that a load reads")
struct LoadReplyTests {
    /// What the reader finds in pieces of a text.
    private func replies(_ text: String, size: Int) throws -> [LoadReply] {
        var reader = LoadReplyReader()
        var replies: [LoadReply] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            var piece = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
            reader.append(&piece)
            while let reply = try reader.next() { replies.append(reply) }
        }
        return replies
    }

    @Test("Responses are read however their bytes arrive", arguments: [1, 7, 1000])
    func pieces(size: Int) throws {
        let text =
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 100 Continue\r\n\r\n"
            + "HTTP/1.1 204 No Content\r\nConnection: Close\r\n\r\nHTTP/1.1 429 Too Many\r\ncontent-LENGTH:3\r\n\r\nabc"
        let found = try replies(text, size: size)
        #expect(found.map(\.status) == [200, 204, 429])
        #expect(found.map(\.closes) == [false, true, false])
        #expect(found.map { String(decoding: $0.body, as: UTF8.self) } == ["{}", "", "abc"])
    }

    @Test(
        "Other responses are errors",
        arguments: [
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 xx\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n" + String(repeating: "a", count: 70_000),
        ])
    func errors(_ text: String) {
        #expect(throws: LoadFailure.self) { try replies(text, size: 100_000) }
    }
}
