import AssayCore
import AssayHTTPServer
import NIOCore
import NIOEmbedded
import Testing

@testable import AssayExtAuthz

@Suite("Connections that share an event loop")
struct LoopSharingTests {
    /// Frames pass at 300 µs for each piece of four.
    private final class Loop {
        let eventLoop = EmbeddedEventLoop()
        var time = 0
        /// Rounds whose tasks have not begun.
        var unbegun: [@Sendable () -> Void] = []
        private(set) lazy var sharing = LoopSharing(eventLoop, clock: { [unowned self] in time }) { [unowned self] in
            unbegun.append($0)
        }

        /// The time until the next round; less than a millisecond if there is none.
        func next() {
            let before = unbegun.count
            for _ in 0..<200 where unbegun.count == before { eventLoop.advanceTime(by: .microseconds(1)) }
        }

        /// The tasks of all rounds begin.
        func begin() {
            let begun = unbegun
            unbegun = []
            for callBack in begun { callBack() }
            eventLoop.run()
        }
    }

    /// A connection whose pieces are counted where the protocol's parser would be.
    private final class Peer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let loop: Loop
        private(set) var passed = 0
        let channel: EmbeddedChannel

        init(_ loop: Loop, _ address: String) throws {
            self.loop = loop
            channel = EmbeddedChannel(loop: loop.eventLoop)
            let limits = ExtAuthzLimits()
            let watch = ConnectionGuard(
                OpenConnection(peer: PeerGroup(address), at: loop.eventLoop.now) {}, limits,
                room: ConnectionBudget(bytes: 1, calls: 1, budget: TransportBudget()), forwarded: ForwardedCalls(),
                closed: ClosedStreams.Total(), sharing: loop.sharing, eventLoop: loop.eventLoop)
            let gate = FrameGate(onReset: watch.reset, mayPass: { [unowned watch] in watch.mayRead })
            watch.onResume = { [weak gate] in gate?.resume() }
            try channel.pipeline.syncOperations.addHandlers(watch, gate, self)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            loop.time += 300_000
            passed += 1
        }

        /// Sends so many pieces at once, the first with the beginning of the connection.
        func send(_ pieces: Int) throws {
            var bytes = passed == 0 ? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) : []
            // Frames of a type that nobody knows, with a payload of 60 bytes each.
            for _ in 0..<4 * pieces { bytes += [0, 0, 60, 0xF1, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 60) }
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        }
    }

    @Test("one that sends much continues by shares, and one that sends little does not wait for it")
    func shares() throws {
        let loop = Loop()
        let (flood, other) = (try Peer(loop, "192.0.2.1"), try Peer(loop, "192.0.2.2"))
        try flood.send(100)
        #expect(flood.passed == 4)
        try other.send(1)
        #expect(other.passed == 1)
        // It owes 0.2 ms, and then 0.1 ms.
        for expected in [7, 10, 14] {
            loop.next()
            loop.begin()
            #expect(flood.passed == expected)
        }
        for _ in 0..<100 {
            loop.next()
            loop.begin()
        }
        #expect(flood.passed == 100)
    }

    @Test("the connections of a peer have one share")
    func connections() throws {
        let loop = Loop()
        let flood = try (0..<5).map { _ in try Peer(loop, "192.0.2.1") }
        for each in flood { try each.send(10) }
        #expect(flood.map(\.passed) == [4, 0, 0, 0, 0])
        loop.next()
        loop.begin()
        #expect(flood.map(\.passed) == [7, 0, 0, 0, 0])
        loop.next()
        #expect(flood.map(\.passed) == [7, 3, 0, 0, 0])
    }

    @Test("rounds wait for the tasks of those before")
    func pace() throws {
        let loop = Loop()
        let flood = try Peer(loop, "192.0.2.1")
        try flood.send(100)
        for _ in 0..<10 { loop.next() }
        #expect(loop.unbegun.count == 2)
        let passed = flood.passed
        #expect(passed < 12)
        loop.begin()
        for _ in 0..<10 { loop.next() }
        #expect(loop.unbegun.count == 2)
        #expect(flood.passed > passed)
    }

    @Test("a connection that is closed while it waits does not continue")
    func closed() throws {
        let loop = Loop()
        let flood = try Peer(loop, "192.0.2.1")
        try flood.send(100)
        _ = try flood.channel.finish(acceptAlreadyClosed: true)
        loop.eventLoop.advanceTime(by: .seconds(1))
        loop.begin()
        #expect(flood.passed == 4)
        #expect(loop.unbegun.isEmpty)
    }
}
