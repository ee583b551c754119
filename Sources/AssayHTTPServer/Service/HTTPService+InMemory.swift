internal import AssayCore
internal import NIOCore
internal import NIOEmbedded

@_spi(Fuzzing) extension HTTPService {
    /// The protocol of a connection's first bytes.
    public enum Wire: Sendable {
        case http1
        /// After TLS has chosen it, beginning with the client's preface.
        case http2
    }

    /// The result of a connection.
    public struct Conversation: Sendable {
        /// All bytes that the server sent.
        public let output: [UInt8]
        /// Whether the server ended the connection after the client's input ended and all time limits were over.
        public let hasEnded: Bool
    }

    /// Serves one connection without a socket: a client that sends some bytes and then ends its input.
    ///
    /// The handlers are those of a socket's connection, and time advances when nothing else is left to wait for.
    public func converse(_ wire: Wire, _ input: [UInt8]) async throws -> Conversation {
        let channel = NIOAsyncTestingChannel()
        let loop = channel.testingEventLoop
        let admission = ConnectionAdmission(most: 1, grace: .seconds(1), eventLoop: loop)
        let connections = HTTPConnections(
            gateway: gateway, clock: ReplyDate(.system), limits: configuration.limits, admission: admission,
            requests: RequestAdmission(gateway: gateway, clock: ReplyDate(.system)), metrics: metrics,
            budget: configuration.budget)
        let room = PeerBudget(configuration.budget)
        guard let reservation = Reservation.connection(room, isSecure: wire == .http2) else {
            return Conversation(output: [], hasEnded: true)
        }
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(reservation) {} }
        let (exchanges, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
        let backlog = Backlog()
        try await loop.executeInContext {
            switch wire {
            case .http1: try connections.addHTTP1(to: channel, continuation, backlog, room)
            case .http2: try connections.addHTTP2(to: channel, continuation, reservation, room)
            }
        }
        channel.closeFuture.whenComplete { _ in continuation.finish() }
        try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [logger] in
                let connection = HTTPConnection(channel: channel, exchanges: exchanges, backlog: backlog) {
                    channel.close(promise: nil)
                }
                await connections.serve(connection, on: nil, logger: logger)
            }
            var rest = input[...]
            while !rest.isEmpty, channel.isActive {
                // The size of one read.
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

    /// Waits for requests to be answered, and then advances the time.
    private static func waitForEnd(of channel: NIOAsyncTestingChannel, _ loop: NIOAsyncTestingEventLoop) async -> Bool {
        for _ in 0..<64 {
            await loop.run()
            if !channel.isActive { return true }
            await Task.yield()
        }
        for attempt in 0..<100 {
            await loop.advanceTime(by: .seconds(30))
            if !channel.isActive { return true }
            // On a busy machine the answering task may not have run yet.
            try? await Task.sleep(for: .milliseconds(min(attempt, 50)))
        }
        return false
    }
}
