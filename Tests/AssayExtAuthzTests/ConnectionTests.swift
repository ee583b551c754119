import AssayKit
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@testable import AssayExtAuthz

@Suite("Connections of ext_authz", .timeLimit(.minutes(5)))
struct ConnectionTests {
    @Test("one more than there may be is closed at once, and the next is taken when one has gone")
    func crowd() async throws {
        try await ExtAuthzServer.with(limits: { $0.maximumConnections = 2 }) { server in
            let port = try #require(server.port)
            try await Self.connect(port) { first in
                try await Self.isServed(first)
                try await Self.connect(port) { second in
                    try await Self.isServed(second)
                    try await Self.connect(port) { third in
                        var bytes = 0
                        for try await buffer in third { bytes += buffer.readableBytes }
                        #expect(bytes == 0)
                    }
                }
            }
            while try await !(server.withClient { try await $0.check(.about()).isLeave }) {}
        }
    }

    @Test("a connection that does not begin to speak is closed")
    func silentBeginning() throws {
        let channel = EmbeddedChannel(handler: ConnectionTimer(limits))
        try channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test("a connection that was silent for three times as long as it takes to be asked is closed, and no earlier")
    func silence() throws {
        let channel = EmbeddedChannel(handler: ConnectionTimer(limits))
        try channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for seconds in [9, 89, 60] {
            channel.embeddedEventLoop.advanceTime(by: .seconds(Int64(seconds)))
            try channel.writeInbound(ByteBuffer(string: "a"))
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(89))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    private let limits = ExtAuthzLimits()

    /// Waits for the server's first word: until then the connection may not have been counted.
    private static func isServed(_ connection: NIOAsyncChannelInboundStream<ByteBuffer>) async throws {
        for try await _ in connection { return }
        Issue.record("the connection was closed")
    }

    /// A connection as bytes; whatever goes wrong with it is its end.
    private static func connect(
        _ port: Int, _ body: @Sendable (NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> Void
    ) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, _ in
            try await body(inbound)
        }
    }
}
