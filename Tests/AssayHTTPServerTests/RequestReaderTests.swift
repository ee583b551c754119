import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import AssayHTTPServer

/// The reader's clock, turned by hand.
@Suite("Request reader")
struct RequestReaderTests {
    private let channel: EmbeddedChannel
    private let partial = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"

    init() throws {
        channel = try EmbeddedConnection().channel
    }

    private func receive(_ text: String) throws {
        try channel.writeInbound(ByteBuffer(string: text))
    }

    private func input() throws -> HTTPInput? {
        try channel.readInbound(as: HTTPInput.self)
    }

    private func fault() throws -> HTTPFault? {
        guard case .fault(let fault, _) = try input()?.content else { return nil }
        return fault
    }

    private func reply() throws {
        try channel.writeOutbound(ServerReply.some)
        while try channel.readOutbound(as: ByteBuffer.self) != nil {}
    }

    private func pass(_ time: TimeAmount) {
        channel.embeddedEventLoop.advanceTime(by: time)
    }

    @Test("a connection without a byte is closed at the end of the head's time")
    func nothing() throws {
        pass(.milliseconds(9_999))
        #expect(channel.isActive)
        pass(.milliseconds(1))
        #expect(!channel.isActive)
        #expect(try input() == nil)
    }

    @Test("a head has its time from its first byte, and bytes do not prolong it")
    func slowHead() throws {
        pass(.seconds(9))
        for letter in "GET / HT" {
            #expect(try fault() == nil)
            try receive(String(letter))
            pass(.milliseconds(1_250))
        }
        #expect(try fault() == .headTooSlow)
    }

    @Test("a body has its time from the end of its head, and bytes do not prolong it")
    func slowBody() throws {
        try receive(String(partial.unicodeScalars.dropLast()))
        pass(.seconds(9))
        try receive("\n")
        for _ in 0..<8 {
            #expect(try fault() == nil)
            try receive("x")
            pass(.milliseconds(1_250))
        }
        #expect(try fault() == .bodyTooSlow)
        // What comes after is not even parsed.
        try receive("x" + TestServer.get("/"))
        #expect(try input() == nil)
    }

    @Test("while the kernel works no time of the client's runs, and a request behind has all of its own afterwards")
    func answering() throws {
        try receive(TestServer.get("/") + partial)
        #expect(try input() != nil)
        pass(.hours(1))
        #expect(channel.isActive)
        #expect(try fault() == nil)
        try reply()
        pass(.milliseconds(9_999))
        #expect(try fault() == nil)
        pass(.milliseconds(1))
        #expect(try fault() == .bodyTooSlow)
    }

    @Test("a kept connection is closed when nothing comes for the idle time")
    func idle() throws {
        try receive(TestServer.get("/"))
        #expect(try input()?.endsConnection == false)
        try reply()
        pass(.milliseconds(59_999))
        #expect(channel.isActive)
        pass(.milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test("a connection whose client does not take a reply is closed after the idle time")
    func delivery() throws {
        try channel.pipeline.syncOperations.addHandler(StalledWrites(), position: .first)
        try receive(TestServer.get("/"))
        #expect(try input() != nil)
        channel.writeAndFlush(ServerReply.some, promise: nil)
        pass(.milliseconds(59_999))
        #expect(channel.isActive)
        pass(.milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test("a second request has the head's time, not what is left of the idle time")
    func secondHead() throws {
        try receive(TestServer.get("/"))
        #expect(try input() != nil)
        try reply()
        pass(.seconds(59))
        try receive("G")
        pass(.milliseconds(9_999))
        #expect(try fault() == nil)
        #expect(channel.isActive)
        pass(.milliseconds(1))
        #expect(try fault() == .headTooSlow)
    }

    @Test("a client that sends too far ahead of the replies is refused")
    func tooManyRequests() throws {
        for _ in 0..<1001 { try receive(TestServer.get("/")) }
        for _ in 0..<1000 { #expect(try input()?.endsConnection == false) }
        #expect(try fault() == .tooManyRequests)
        try receive(TestServer.get("/"))
        #expect(try input() == nil)
    }

    @Test("a server that shuts down closes idle connections at once, and others after the reply")
    func quiescing() throws {
        try receive(TestServer.get("/"))
        #expect(try input() != nil)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(channel.isActive)
        try channel.writeOutbound(ServerReply.some)
        let head = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: head).contains("\r\nconnection: close\r\n"))
        #expect(!channel.isActive)

        let other = try RequestReaderTests()
        other.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(!other.channel.isActive)
    }

    @Test("a connection that is to make room closes at once, unless a request of it is being answered")
    func makesRoom() throws {
        try receive(TestServer.get("/") + partial)
        #expect(try input() != nil)
        channel.pipeline.fireUserInboundEventTriggered(ConnectionAdmission.MakeRoom())
        #expect(channel.isActive)
        try reply()
        channel.pipeline.fireUserInboundEventTriggered(ConnectionAdmission.MakeRoom())
        #expect(!channel.isActive)
    }

    @Test("a server that shuts down waits for a request whose first bytes are there")
    func quiescingMidway() throws {
        try receive(partial)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        try receive("123456789")
        #expect(try input() != nil)
        try channel.writeOutbound(ServerReply.some)
        let head = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: head).contains("\r\nconnection: close\r\n"))
    }
}

/// A socket whose buffer is full for ever.
private final class StalledWrites: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { promises.append(promise) }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        for pending in promises { pending.fail(ChannelError.ioOnClosedChannel) }
        promises = []
        context.close(mode: mode, promise: promise)
    }
}
