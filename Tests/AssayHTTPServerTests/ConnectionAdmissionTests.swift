import AssayCore
import AssayKit
import NIOCore
import NIOEmbedded
import Testing

@testable import AssayHTTPServer

/// Who has to go, and when: with a clock that is turned by hand.
@Suite("Connection slots")
struct ConnectionAdmissionTests {
    private let loop = EmbeddedEventLoop()
    private let slots: ConnectionAdmission

    init() {
        slots = ConnectionAdmission(most: 3, grace: .seconds(1), eventLoop: loop)
    }

    /// An open connection that remembers whether it was told to make room.
    private final class Connection: ChannelInboundHandler {
        typealias InboundIn = Never
        let channel: EmbeddedChannel
        private(set) var timesTold = 0

        init(_ loop: EmbeddedEventLoop) throws {
            channel = EmbeddedChannel(loop: loop)
            try channel.pipeline.syncOperations.addHandler(self)
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ConnectionAdmission.MakeRoom { timesTold += 1 }
        }
    }

    private func open(_ count: Int) throws -> [(connection: Connection, ticket: IdleQueue.Ticket)] {
        try (0..<count).map { _ in
            slots.opened()
            let connection = try Connection(loop)
            return (connection, slots.begin(connection.channel))
        }
    }

    @Test("below the most, nobody has to go")
    func room() throws {
        let places = try open(2)
        #expect(slots.hasRoom())
        loop.advanceTime(by: .hours(1))
        #expect(slots.hasRoom())
        #expect(places.allSatisfy { $0.connection.timesTold == 0 })
    }

    @Test("when all slots are taken, the one who waited longest goes, after the grace and not before")
    func oldest() throws {
        let places = try open(3)
        #expect(!slots.hasRoom())
        loop.advanceTime(by: .milliseconds(999))
        #expect(places.map(\.connection.timesTold) == [0, 0, 0])
        loop.advanceTime(by: .milliseconds(2))
        #expect(places.map(\.connection.timesTold) == [1, 0, 0])
        // Asked again before the first has closed: one slot was wanted, and one is on its way.
        #expect(!slots.hasRoom())
        loop.advanceTime(by: .hours(1))
        #expect(places.map(\.connection.timesTold) == [1, 0, 0])
        slots.closed()
        #expect(slots.hasRoom())
    }

    @Test("several beyond the most make as many go")
    func several() throws {
        let places = try open(5)
        #expect(!slots.hasRoom())
        loop.advanceTime(by: .seconds(2))
        #expect(places.map(\.connection.timesTold) == [1, 1, 1, 0, 0])
    }

    @Test("one who does not wait any longer is passed over, and one who waits again is the last")
    func passedOver() throws {
        let places = try open(3)
        slots.end(places[1].ticket)
        slots.end(places[0].ticket)
        loop.advanceTime(by: .milliseconds(500))
        _ = slots.begin(places[0].connection.channel)
        #expect(!slots.hasRoom())
        loop.advanceTime(by: .seconds(1))
        #expect(places.map(\.connection.timesTold) == [0, 0, 1])
        // A place that was taken away is not taken away twice.
        slots.end(places[2].ticket)
        slots.closed()
        slots.opened()
        #expect(!slots.hasRoom())
        loop.advanceTime(by: .seconds(2))
        #expect(places.map(\.connection.timesTold) == [1, 0, 1])
    }

    @Test("one who is being answered by the time it is told stays, and the next one goes")
    func stays() throws {
        let places = try open(3)
        loop.advanceTime(by: .seconds(2))
        #expect(!slots.hasRoom())
        #expect(places.map(\.connection.timesTold) == [1, 0, 0])
        slots.stay()
        #expect(places.map(\.connection.timesTold) == [1, 1, 0])
    }

    @Test("when all are being answered, the first that falls silent goes after the grace")
    func allBusy() throws {
        let places = try open(3)
        for place in places { slots.end(place.ticket) }
        #expect(!slots.hasRoom())
        loop.advanceTime(by: .milliseconds(3_500))
        _ = slots.begin(places[1].connection.channel)
        loop.advanceTime(by: .milliseconds(900))
        #expect(places.map(\.connection.timesTold) == [0, 0, 0])
        loop.advanceTime(by: .milliseconds(1_100))
        #expect(places.map(\.connection.timesTold) == [0, 1, 0])
    }

    @Test("one that closes on its own is room enough")
    func closedInTime() throws {
        let places = try open(3)
        #expect(!slots.hasRoom())
        slots.end(places[2].ticket)
        slots.closed()
        #expect(slots.hasRoom())
        loop.advanceTime(by: .hours(1))
        #expect(places.map(\.connection.timesTold) == [0, 0, 0])
    }
}
