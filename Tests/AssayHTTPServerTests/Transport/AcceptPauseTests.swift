import AssayCore
import AssayKit
import AssayTestSupport
import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import AssayHTTPServer

@Suite("Connections that cannot be taken")
struct AcceptPauseTests {
    /// A listening channel as far as these handlers see one.
    private struct Scene {
        let channel = EmbeddedChannel()
        let reads = Reads()
        let end = ErrorEnd()
        let log = RecordingLog()
        let numbers = Numbers()

        init() throws {
            let meter = numbers.meter
            let failures = Metric.counter("http_accept_failures_total", "Failures.")
            meter.add(0, to: failures)
            let pause = AcceptPause(logger: log.logger) { meter.add(to: failures) }
            try channel.pipeline.syncOperations.addHandlers([reads, pause, end])
        }

        func fail(_ code: CInt) {
            channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
        }
    }

    @Test(
        "What passes by itself does not get through to where it would end the server",
        arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED])
    func passing(_ code: CInt) throws {
        let scene = try Scene()
        scene.fail(code)
        #expect(scene.end.count == 0)
        #expect(scene.numbers["http_accept_failures_total"] == 1)
        #expect(scene.log.lines.count == 1)
    }

    @Test("What does not pass gets through", arguments: [EBADF, EINVAL])
    func lasting(_ code: CInt) throws {
        let scene = try Scene()
        scene.fail(code)
        #expect(scene.end.count == 1)
        #expect(scene.numbers["http_accept_failures_total"] == 0)
    }

    @Test("For a tenth of a second no other connection is taken, and then one is")
    func pause() throws {
        let scene = try Scene()
        scene.channel.read()
        #expect(scene.reads.count == 1)
        scene.fail(EMFILE)
        scene.channel.read()
        scene.channel.read()
        scene.channel.embeddedEventLoop.advanceTime(by: .milliseconds(99))
        #expect(scene.reads.count == 1)
        scene.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(scene.reads.count == 2)
        scene.channel.read()
        #expect(scene.reads.count == 3)
    }

    @Test("A client that has gone already delays nobody else")
    func aborted() throws {
        let scene = try Scene()
        scene.fail(ECONNABORTED)
        scene.channel.read()
        #expect(scene.reads.count == 1)
    }

    @Test("The log says it once, however often it happens at a time")
    func cautions() throws {
        let scene = try Scene()
        for _ in 0..<100 { scene.fail(EMFILE) }
        #expect(scene.log.lines == ["a connection cannot be accepted error=Too many open files"])
        #expect(scene.numbers["http_accept_failures_total"] == 100)
    }
}

/// Counts the reads that reach the socket.
private final class Reads: ChannelOutboundHandler {
    typealias OutboundIn = Never
    var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

/// Counts the errors that get to the end.
private final class ErrorEnd: ChannelInboundHandler {
    typealias InboundIn = Any
    var count = 0

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        count += 1
    }
}
