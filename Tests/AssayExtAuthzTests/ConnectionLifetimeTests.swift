import AssayCore
import AssayHTTPServer
import AssayKit
import NIOCore
import NIOEmbedded
import Testing

@testable import AssayExtAuthz

@Suite("How long a connection continues")
struct ConnectionLifetimeTests {
    private let limits = ExtAuthzLimits()
    private let opened = NIODeadline.uptimeNanoseconds(1)

    @Test("one that does not begin to speak ends")
    func silentBeginning() {
        #expect(ConnectionLifetime(limits, opened: opened).end == opened + .seconds(10))
    }

    @Test("one that was silent for three times as long as it takes to be asked ends")
    func silence() {
        var lifetime = ConnectionLifetime(limits, opened: opened)
        lifetime.callBegan()
        for seconds in [9, 98, 150] {
            lifetime.read(at: opened + .seconds(Int64(seconds)))
            #expect(lifetime.end == opened + .seconds(Int64(seconds) + 90))
        }
    }

    @Test("one without a whole call ends, whatever else its client sends")
    func idle() {
        var lifetime = ConnectionLifetime(limits, opened: opened)
        for seconds in 1...309 { lifetime.read(at: opened + .seconds(Int64(seconds))) }
        #expect(lifetime.end == opened + .seconds(310))
        lifetime.callBegan()
        #expect(lifetime.end == opened + .seconds(399))
        lifetime.callEnded(at: opened + .seconds(350))
        lifetime.read(at: opened + .seconds(600))
        #expect(lifetime.end == opened + .seconds(660))
    }

    @Test("none continues for ever")
    func age() {
        var lifetime = ConnectionLifetime(limits, opened: opened)
        lifetime.callBegan()
        lifetime.read(at: opened + .seconds(10_000))
        #expect(lifetime.end == opened + .seconds(3630))
    }

    @Test("when the server ends, one ends a second after its last call, whether its client answers or not")
    func quiesced() {
        var lifetime = ConnectionLifetime(limits, opened: opened)
        lifetime.quiesce(at: opened + .seconds(2))
        #expect(lifetime.end == opened + .seconds(3), "its client has sent nothing")
        lifetime = ConnectionLifetime(limits, opened: opened)
        lifetime.read(at: opened + .seconds(1))
        lifetime.callBegan()
        lifetime.quiesce(at: opened + .seconds(2))
        #expect(lifetime.end == opened + .seconds(91), "its call goes on")
        lifetime.callEnded(at: opened + .seconds(5))
        lifetime.read(at: opened + .seconds(6))
        lifetime.quiesce(at: opened + .seconds(6))
        #expect(lifetime.end == opened + .seconds(6))
    }

    @Test("it is closed at that time")
    func closed() throws {
        let channel = EmbeddedChannel()
        let exit = DirectClose()
        let bound = NIOLoopBound(exit, eventLoop: channel.eventLoop)
        let connection = OpenConnection(peer: .unknown, at: channel.eventLoop.now) { bound.value.close() }
        let watch = ConnectionGuard(
            connection, limits, room: ConnectionBudget(bytes: 0, calls: 0, budget: TransportBudget()),
            forwarded: ForwardedCalls(), closed: ClosedStreams.Total(),
            sharing: LoopSharing(channel.eventLoop) { $0() }, eventLoop: channel.eventLoop)
        try channel.pipeline.syncOperations.addHandlers(exit, watch)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        // A sign of life every ten seconds.
        for _ in 0..<30 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            try channel.writeInbound(ByteBuffer(string: "a"))
        }
        watch.callBegan()
        for _ in 0..<20 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(10))
            try channel.writeInbound(ByteBuffer(string: "a"))
        }
        watch.callAnswered()
        watch.callEnded()
        for _ in 0..<30 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(10))
            try channel.writeInbound(ByteBuffer(string: "a"))
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
