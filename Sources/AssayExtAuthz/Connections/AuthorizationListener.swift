internal import AssayCore
internal import AssayHTTPServer
internal import GRPCNIOTransportHTTP2TransportServices
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Accepts connections for the gRPC transport, whose own listener has no limit on them, and ends when accepting fails.
struct AuthorizationListener: HTTP2ServerTransport.ListenerFactory {
    typealias ConnectionChannel = HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel

    let configuration: ExtAuthzConfiguration
    let connections: OpenConnections
    let forwarded: ForwardedCalls
    let closed = ClosedStreams.Total()
    let sharing: LoopSharing.All
    let logger: Logger
    let onListening: @Sendable (ListenerAddress) async -> Void

    var eventLoopGroup: any EventLoopGroup { MultiThreadedEventLoopGroup.singleton }

    func makeListeningChannel(
        listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
        connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
    ) async throws -> NIOAsyncChannel<ConnectionChannel, Never> {
        let bootstrap = ServerBootstrap(group: eventLoopGroup)
            // What was read continues in parts, and no more is read meanwhile.
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 2048, maximum: 16_384)
            )
            .serverChannelInitializer { [logger] channel in
                listenerConfigurator.configure(channel: channel).flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(logger: logger), position: .first)
                }
            }
        let (listening, address) = try await bootstrap.listen(
            at: configuration.address, backlog: configuration.limits.backlog
        ) { setUp($0, connectionConfigurator) }
        await onListening(address)
        return listening
    }

    private func setUp(
        _ channel: any Channel, _ configurator: HTTP2ServerTransport.ConnectionConfigurator
    ) -> EventLoopFuture<ConnectionChannel> {
        let connection = channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let exit = DirectClose()
            try pipeline.addHandler(exit)
            let connection = OpenConnection(channel, exit)
            guard connections.begin(connection) else { throw TooManyConnections() }
            channel.closeFuture.whenComplete { _ in connections.end(connection) }
            if let certificate = configuration.certificate {
                try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context))
            }
            let limits = configuration.limits
            let watch = ConnectionGuard(
                connection, limits,
                room: ConnectionBudget(
                    bytes: limits.connectionBytes, calls: limits.calls, budget: configuration.budget),
                forwarded: forwarded, closed: closed, sharing: sharing.of(channel.eventLoop),
                eventLoop: channel.eventLoop)
            try pipeline.addHandler(watch)
            // The clients of a proxy share its connection, so that no number of resets is too many.
            let gate = FrameGate(onReset: watch.reset, mayPass: { [unowned watch] in watch.mayRead })
            watch.onResume = { [weak gate] in gate?.resume() }
            try pipeline.addHandler(gate)
        }.flatMap {
            configurator.configure(
                channel: channel, tls: configuration.certificate == nil ? .none : .configured(requireALPN: true))
        }
        // A connection that was never passed on is closed here.
        connection.whenFailure { _ in channel.close(promise: nil) }
        return connection
    }

    private struct TooManyConnections: Error {}
}

extension OpenConnection {
    /// - Parameter exit: the first handler of the channel's pipeline.
    fileprivate convenience init(_ channel: any Channel, _ exit: DirectClose) {
        let eventLoop = channel.eventLoop
        let bound = NIOLoopBound(exit, eventLoop: eventLoop)
        self.init(peer: PeerGroup(channel.remoteAddress?.ipAddress), at: eventLoop.now) {
            if eventLoop.inEventLoop { bound.value.close() } else { eventLoop.execute { bound.value.close() } }
        }
    }
}
