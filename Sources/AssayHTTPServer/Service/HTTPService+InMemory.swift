internal import AssayCore
internal import AssayTransport
internal import NIOCore
internal import NIOEmbedded

@_spi(Fuzzing) extension HTTPService {
    /// What bytes a connection begins with.
    public enum Wire: Sendable {
        case http1
        /// After TLS has chosen it, beginning with the client's preface.
        case http2
    }

    /// What came of a connection.
    public struct Conversation: Sendable {
        /// All bytes that the client was sent.
        public let output: [UInt8]
        /// Whether the server ended the connection once the client had nothing more to say, and its times were over.
        public let hasEnded: Bool
    }

    /// Serves one connection without a socket: a client that sends some bytes and then no more.
    ///
    /// The handlers are those of a socket's connection, and time passes when nothing else is left to wait for.
    public func converse(_ wire: Wire, _ input: [UInt8]) async throws -> Conversation {
        let channel = NIOAsyncTestingChannel()
        let loop = channel.testingEventLoop
        let admission = ConnectionAdmission(most: 1, grace: .seconds(1), eventLoop: loop)
        let connections = HTTPConnections(
            gateway: gateway, clock: ReplyDate(.system), limits: configuration.limits, admission: admission,
            metrics: metrics, budget: configuration.budget)
        let room = PeerRoom(configuration.budget)
        guard let reservation = Reservation.connection(room, isSecure: wire == .http2) else {
            return Conversation(output: [], hasEnded: true)
        }
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(reservation) {} }
        let (exchanges, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
        try await loop.executeInContext {
            switch wire {
            case .http1: try connections.addHTTP1(to: channel, continuation, room)
            case .http2: try connections.addHTTP2(to: channel, continuation, reservation, room)
            }
        }
        channel.closeFuture.whenComplete { _ in continuation.finish() }
        try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [logger] in
                await connections.serve(HTTPConnection(channel: channel, exchanges: exchanges), logger: logger)
            }
            var rest = input[...]
            while !rest.isEmpty, channel.isActive {
                // What one read brings in.
                _ = try? await channel.writeInbound(ByteBuffer(bytes: rest.prefix(4096)))
                rest = rest.dropFirst(4096)
            }
            try await loop.executeInContext {
                channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
            let hasEnded = await Self.waitForEnd(of: channel, loop)
            var output: [UInt8] = []
            while let buffer = try? await channel.readOutbound(as: ByteBuffer.self) {
                output += buffer.readableBytesView
            }
            group.cancelAll()
            try? await channel.close()
            return Conversation(output: output, hasEnded: hasEnded)
        }
    }

    /// Lets what is being answered be answered, and then time pass.
    private static func waitForEnd(of channel: NIOAsyncTestingChannel, _ loop: NIOAsyncTestingEventLoop) async -> Bool {
        for _ in 0..<64 {
            await loop.run()
            if !channel.isActive { return true }
            await Task.yield()
        }
        for attempt in 0..<100 {
            await loop.advanceTime(by: .seconds(30))
            if !channel.isActive { return true }
            // On a busy machine what answers may not have had its turn.
            try? await Task.sleep(for: .milliseconds(min(attempt, 50)))
        }
        return false
    }
}
