internal import AssayHTTP
internal import GRPCNIOTransportHTTP2TransportServices
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Takes connections for the gRPC transport, whose own listener knows no bound on them, and ends when one cannot be taken.
struct AuthorizationListener: HTTP2ServerTransport.ListenerFactory {
    typealias ConnectionChannel = HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel

    let configuration: ExtAuthzConfiguration
    let connections: OpenConnections
    let logger: Logger
    let onListening: @Sendable (ExtAuthzConfiguration.Address) async -> Void

    var eventLoopGroup: any EventLoopGroup { MultiThreadedEventLoopGroup.singleton }

    func makeListeningChannel(
        listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
        connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
    ) async throws -> NIOAsyncChannel<ConnectionChannel, Never> {
        let bootstrap = ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: Int32(clamping: configuration.limits.backlog))
            .serverChannelInitializer { [logger] channel in
                listenerConfigurator.configure(channel: channel).flatMapThrowing {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause(logger: logger), position: .first)
                }
            }
        do {
            switch configuration.address {
            case .host(let host, let port):
                let listening = try await bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: host, port: port) { setUp($0, connectionConfigurator) }
                let local = listening.channel.localAddress
                await onListening(.host(local?.ipAddress ?? host, port: local?.port ?? port))
                return listening
            case .unixSocket(let path):
                SocketFile.makeWay(path)
                let listening = try await bootstrap.bind(unixDomainSocketPath: path) {
                    setUp($0, connectionConfigurator)
                }
                await onListening(.unixSocket(path))
                return listening
            }
        } catch {
            let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw ExtAuthzError(.cannotListen, "cannot listen on \(configuration.address): \(cause)")
        }
    }

    private func setUp(
        _ channel: any Channel, _ configurator: HTTP2ServerTransport.ConnectionConfigurator
    ) -> EventLoopFuture<ConnectionChannel> {
        let connection = channel.eventLoop.makeCompletedFuture {
            guard connections.begin() else { throw TooManyConnections() }
            channel.closeFuture.whenComplete { _ in connections.end() }
            let pipeline = channel.pipeline.syncOperations
            if let certificate = configuration.certificate {
                try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context))
            }
            try pipeline.addHandler(ConnectionTimer(configuration.limits))
        }.flatMap {
            configurator.configure(
                channel: channel, tls: configuration.certificate == nil ? .none : .configured(requireALPN: true))
        }
        // Nobody else closes a connection that was never handed on.
        connection.whenFailure { _ in channel.close(promise: nil) }
        return connection
    }

    private struct TooManyConnections: Error {}
}
