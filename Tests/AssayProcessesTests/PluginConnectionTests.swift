import AssayCore
import AssayTestSupport
import Foundation
import NIOCore
import NIOPosix
import SwiftProtobuf
import Synchronization
import Testing

@testable import AssayProcesses

@Suite("Connections to processes")
struct PluginConnectionTests {
    private static let service = "assay.plugin.v1.Plugin"

    /// Runs `body` with a connection to a server of bytes that nobody reads as HTTP/2.
    private static func with(
        answering bytes: [UInt8]? = nil, reads: Bool = true, closes: Bool = false,
        _ body: (PluginConnection) async throws -> Void
    ) async throws {
        let path = "/tmp/assay-connection-\(UUID().uuidString.prefix(8)).sock"
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: reads)
            .childChannelInitializer { channel in
                if closes { return channel.close() }
                guard let bytes else { return channel.eventLoop.makeSucceededVoidFuture() }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Greeting(bytes))
                }
            }
            .bind(unixDomainSocketPath: path).get()
        do {
            try await body(try PluginConnection.connect(to: path, service: service))
        } catch {
            try? await server.close()
            unlink(path)
            throw error
        }
        try? await server.close()
        unlink(path)
    }

    private static func failure(of connection: PluginConnection, within limit: Duration = .seconds(600)) async
        -> GRPCFailure?
    {
        do {
            _ = try await connection.call(
                "Health", Assay_Plugin_V1_HealthRequest(), as: Assay_Plugin_V1_HealthResponse.self, timeLimit: limit)
            return nil
        } catch {
            return error as? GRPCFailure
        }
    }

    @Test("A call that is not answered ends when its time is over, and the connection stays")
    func deadline() async throws {
        try await Self.with { connection in
            #expect(await Self.failure(of: connection, within: .milliseconds(50))?.code == .deadlineExceeded)
            #expect(await Self.failure(of: connection, within: .milliseconds(50))?.code == .deadlineExceeded)
            connection.close()
        }
    }

    @Test("A thread that waits for an answer is woken when its time is over")
    func blocking() async throws {
        try await Self.with { connection in
            let failure = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    do {
                        _ = try connection.callBlocking(
                            "Health", Assay_Plugin_V1_HealthRequest(), as: Assay_Plugin_V1_HealthResponse.self,
                            timeLimit: .milliseconds(50))
                        continuation.resume(returning: nil as GRPCFailure?)
                    } catch {
                        continuation.resume(returning: error as? GRPCFailure)
                    }
                }
            }
            #expect(failure?.code == .deadlineExceeded)
            connection.close()
        }
    }

    @Test("A call that is cancelled ends, and others continue")
    func cancel() async throws {
        try await Self.with { connection in
            let task = Task { await Self.failure(of: connection) }
            try await Task.sleep(for: .milliseconds(20))
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            connection.close()
            #expect(await Self.failure(of: connection)?.code == .unavailable)
        }
    }

    @Test("Bytes that are no HTTP/2 end the connection and its calls")
    func garbage() async throws {
        try await Self.with(answering: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) { connection in
            let failure = await Self.failure(of: connection)
            #expect(failure?.code == .unavailable)
            #expect(failure?.message.contains("broke the protocol") == true)
        }
    }

    @Test("A process that closes ends the calls, and whoever waits for that is told once")
    func closed() async throws {
        try await Self.with(closes: true) { connection in
            #expect(await Self.failure(of: connection)?.code == .unavailable)
            let count = Mutex(0)
            let told = FirstResult<Int>()
            connection.whenClosed {
                told.settle(
                    .success(
                        count.withLock {
                            $0 += 1; return $0
                        }))
            }
            let first = try await told.value
            #expect(first == 1)
            connection.close()
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test("What a process does not read is kept up to a limit")
    func output() async throws {
        // It opens the windows wide, and reads nothing.
        var bytes: [UInt8] = []
        Frame.write(.settings, stream: 0, [0, 4, 0x7F, 0xFF, 0xFF, 0xFF], to: &bytes)
        Frame.write(.windowUpdate, stream: 0, [0x7F, 0xFF, 0x00, 0x00], to: &bytes)
        try await Self.with(answering: bytes, reads: false) { connection in
            var request = Assay_Plugin_V1_ConfigureRequest()
            request.section = String(repeating: "x", count: 1 << 20)
            var failures = 0
            for _ in 0..<64 where failures == 0 {
                let call = try connection.start("Configure", request, timeLimit: .seconds(600))
                try await Task.sleep(for: .milliseconds(10))
                if case .failure(let error)? = call.result.present {
                    failures += 1
                    #expect("\(error)".contains("does not read"))
                }
            }
            #expect(failures == 1)
        }
    }

    @Test("A path that nobody listens on, and one that is too long, are errors at once")
    func paths() {
        #expect(throws: PluginProcess.Unavailable.self) { try PluginConnection.connect(to: "/tmp/nobody.sock") }
        let long = "/tmp/" + String(repeating: "x", count: 200)
        #expect(throws: PluginProcess.Unavailable.self) { try PluginConnection.connect(to: long) }
    }

    @Test("Many calls at once get their own answers")
    func many() async throws {
        let path = "/tmp/assay-connection-\(UUID().uuidString.prefix(8)).sock"
        let listener = try await UnaryListener.listen(on: path, services: [Self.service]) { _, bytes in
            let request = try Assay_Plugin_V1_ConfigureRequest(serializedBytes: bytes)
            if request.instance % 7 == 0 { throw GRPCFailure(.invalidArgument, "seven: \(request.instance)") }
            return try GRPCMessage.encode(
                Assay_Plugin_V1_ConfigureResponse.with { $0.audiences = ["\(request.instance)", request.section] })
        }
        let connection = try PluginConnection.connect(to: path, service: Self.service)
        await withTaskGroup { group in
            for number in 1...200 as ClosedRange<UInt64> {
                group.addTask {
                    var request = Assay_Plugin_V1_ConfigureRequest()
                    request.instance = number
                    request.section = String(repeating: "y", count: Int(number) * 300)
                    do {
                        let answer: Assay_Plugin_V1_ConfigureResponse = try await connection.call(
                            "Configure", request, timeLimit: .seconds(600))
                        #expect(answer.audiences == ["\(number)", request.section])
                        #expect(number % 7 != 0)
                    } catch {
                        #expect("\(error)" == "seven: \(number)")
                    }
                }
            }
        }
        connection.close()
        await listener.close()
        unlink(path)
    }

    @Test("One call after the other is answered, at once and late, and none after the end")
    func alternation() async throws {
        let path = "/tmp/assay-connection-\(UUID().uuidString.prefix(8)).sock"
        let listener = try await UnaryListener.listen(on: path, services: [Self.service]) { _, bytes in
            let request = try Assay_Plugin_V1_ConfigureRequest(serializedBytes: bytes)
            if request.instance % 5 == 0 { try await Task.sleep(for: .milliseconds(3)) }
            return try GRPCMessage.encode(
                Assay_Plugin_V1_ConfigureResponse.with { $0.audiences = ["\(request.instance)", request.section] })
        }
        let connection = try PluginConnection.connect(to: path, service: Self.service)
        for number in 1...300 as ClosedRange<UInt64> {
            var request = Assay_Plugin_V1_ConfigureRequest()
            request.instance = number
            // Some answers have more bytes than are read at a time.
            request.section = String(repeating: "z", count: Int(number % 9) * 5000)
            let made = request
            let answer: Assay_Plugin_V1_ConfigureResponse =
                switch number % 3 {
                case 0:
                    try await OwnThread.run { try connection.callBlocking("Configure", made, timeLimit: .seconds(600)) }
                default: try await connection.call("Configure", made, timeLimit: .seconds(600))
                }
            #expect(answer.audiences == ["\(number)", made.section])
            if number == 150 { try await Task.sleep(for: .milliseconds(1200)) }
        }
        connection.close()
        #expect(await Self.failure(of: connection)?.code == .unavailable)
        await listener.close()
        unlink(path)
    }
}

/// Sends some bytes when a client has connected.
private final class Greeting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }
}
