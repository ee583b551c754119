import AssayCore
import AssayHTTP
@testable import AssayHTTPServer
import AssayKit
import AssayTestSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@Suite("The budget of all connections")
struct TransportBudgetTests {
    @Test("Bytes and places are taken up to the limit, and come back; what does not fit takes nothing and is counted")
    func limits() {
        let budget = TransportBudget(bytes: 800, streams: 2)
        #expect(budget.reserve(bytes: 500))
        #expect(!budget.reserve(bytes: 201))
        #expect(budget.reserve(bytes: 200))
        #expect(budget.bytes == 700)
        #expect(budget.openStream())
        #expect(budget.openStream())
        #expect(!budget.openStream())
        #expect(budget.streams == 2)
        #expect(budget.refused == 2)
        budget.closeStream()
        budget.release(bytes: 700)
        #expect(budget.bytes == 0)
        #expect(budget.openStream())
        #expect(budget.refused == 2)
    }

    @Test("The last eighth of the bytes is for connections, which then can be told that there is no room")
    func connections() {
        let budget = TransportBudget(bytes: 800, streams: 2)
        #expect(budget.reserve(bytes: 700))
        #expect(!budget.reserve(bytes: 1))
        #expect(budget.reserve(connectionBytes: 100))
        #expect(!budget.reserve(connectionBytes: 1))
    }

    @Test(
        "No amount and no limit makes a sum that is too large, or takes less than nothing",
        arguments: [Int.min, -1, 1 << 62, .max])
    func extremes(_ amount: Int) {
        let budget = TransportBudget(bytes: .max, streams: .max)
        #expect(!budget.reserve(bytes: amount))
        #expect(!budget.reserve(connectionBytes: amount))
        #expect(budget.bytes == 0)
        let none = TransportBudget(bytes: .min, streams: .min)
        #expect(!none.reserve(bytes: 1))
        #expect(!none.openStream())
    }

    @Test("Room is scarce when more than half is taken, of either")
    func scarce() {
        let bytes = TransportBudget(bytes: 800, streams: 2)
        #expect(bytes.reserve(bytes: 400))
        #expect(!bytes.isScarce)
        #expect(bytes.reserve(bytes: 1))
        #expect(bytes.isScarce)
        let streams = TransportBudget(bytes: 800, streams: 2)
        #expect(streams.openStream())
        #expect(!streams.isScarce)
        #expect(streams.openStream())
        #expect(streams.isScarce)
    }

    @Test("Taken by many at once, no more is given than there is, and all of it comes back")
    func concurrency() async {
        let budget = TransportBudget(bytes: 80_000, streams: 40)
        await withDiscardingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2000 {
                        var all: [Reservation] = []
                        while let one = Reservation.request(PeerBudget(budget), cost: 1000), all.count < 12 {
                            all.append(one)
                        }
                        for one in all { _ = one.hold(5000) }
                    }
                }
            }
        }
        #expect(budget.bytes == 0)
        #expect(budget.streams == 0)
    }
}

@Suite("What a request reserves")
struct ReservationTests {
    @Test("A usual request needs one reservation, a larger one more, and all of it comes back with the last reference")
    func request() throws {
        let budget = TransportBudget(bytes: 100_000, streams: 1)
        var one = Reservation.request(PeerBudget(budget), cost: 4096)
        let first = budget.bytes
        #expect(first > 4096)
        #expect(one?.hold(4000) == true)
        #expect(budget.bytes == first)
        #expect(one?.hold(20_000) == true)
        #expect(budget.bytes >= 4096 + 22_000)
        let held = budget.bytes
        #expect(one?.hold(80_000) == false)
        #expect(budget.bytes == held)
        one?.shrink(to: 4096)
        #expect(budget.bytes == first)
        #expect(Reservation.request(PeerBudget(budget), cost: 1) == nil, "there is one place")
        one = nil
        #expect(budget.bytes == 0)
        #expect(budget.streams == 0)
    }

    @Test("What a connection no longer keeps, it can keep again without reserving more")
    func connection() throws {
        let budget = TransportBudget(bytes: 100_000, streams: 0)
        let one = try #require(Reservation.connection(PeerBudget(budget), isSecure: true))
        #expect(budget.streams == 0)
        #expect(budget.bytes > 57_344, "what a part of a frame needs is there in any case")
        #expect(one.hold(4000))
        let held = budget.bytes
        for _ in 0..<100 {
            one.drop(4000)
            #expect(one.hold(4000))
        }
        #expect(budget.bytes == held)
        #expect(Reservation.connection(PeerBudget(budget), isSecure: true) == nil)
        withExtendedLifetime(one) {}
    }

    @Test("A body never has more room than it can need or than was held for it", arguments: [1, 100, 4096])
    func body(_ piece: Int) {
        var body = BodyBuffer()
        var held = 0
        let most = 10_000
        for count in stride(from: piece, through: most, by: piece) {
            let growth = body.growth(for: piece, most: most)
            held += growth
            body.append([UInt8](repeating: 7, count: piece), growth: growth)
            #expect(body.count == count)
            #expect(body.count <= held)
        }
        #expect(held <= most)
        #expect(body.bytes.capacity <= held + 64, "rounded up by the allocator")
        #expect(body.growth(for: 20_000, most: 30_000) == body.count + 20_000 - held)
    }
}

@Suite("What a connection of HTTP/1.1 reserves")
struct RequestReservationTests {
    @Test(
        "Requests sent ahead have one place together, and what they took is given back, also when another one has begun"
    )
    func ahead() throws {
        let budget = TransportBudget()
        let channel = try EmbeddedConnection(budget: budget).channel
        var sizes: [Int] = []
        for _ in 0..<20 {
            // The last one is not whole.
            let requests = String(repeating: TestServer.get("/"), count: 50) + "GET / HTTP/1.1\r\n"
            try channel.writeInbound(ByteBuffer(string: sizes.isEmpty ? requests : "Host: a\r\n\r\n" + requests))
            #expect(budget.streams == 1)
            let most = budget.bytes
            while try channel.readInbound(as: HTTPInput.self) != nil { try channel.writeOutbound(ServerReply.some) }
            while try channel.readOutbound(as: ByteBuffer.self) != nil {}
            #expect(budget.bytes < most)
            sizes.append(budget.bytes)
        }
        #expect(sizes.allSatisfy { $0 == sizes[0] }, "\(sizes)")
        try channel.writeInbound(ByteBuffer(string: "Host: a\r\n\r\n"))
        _ = try channel.readInbound(as: HTTPInput.self)
        try channel.writeOutbound(ServerReply.some)
        #expect(budget.streams == 0)
        #expect(budget.bytes == 0)
    }

    @Test("A head and a body that do not fit are answered with 503, and the connection ends", arguments: [false, true])
    func full(_ isBody: Bool) throws {
        let budget = TransportBudget(bytes: 12_000, streams: 1)
        let channel = try EmbeddedConnection(budget: budget).channel
        let begin =
            isBody ? "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" : "GET / HTTP/1.1\r\nHost: a\r\nX: "
        try channel.writeInbound(ByteBuffer(string: begin))
        for _ in 0..<20 { try channel.writeInbound(ByteBuffer(string: String(repeating: "x", count: 1000))) }
        guard case .fault(.overloaded, _) = try channel.readInbound(as: HTTPInput.self)?.content else {
            Issue.record("it is not refused")
            return
        }
        #expect(budget.bytes <= 12_000)
        try channel.close().wait()
        #expect(budget.bytes == 0)
        #expect(budget.streams == 0)
    }
}
