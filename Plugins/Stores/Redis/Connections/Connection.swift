internal import AssayCore
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Where a server listens.
struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
    @Exact private(set) var host: String
    /// 0 for a socket file, whose path `host` is.
    let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    var description: String {
        if port == 0 { return host }
        return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// One connection to one server.
final class Connection: Sendable {
    let server: ServerAddress
    private let channel: any Channel
    private let end: ConnectionEnd

    private init(_ channel: any Channel, _ server: ServerAddress, _ end: ConnectionEnd) {
        self.channel = channel
        self.server = server
        self.end = end
    }

    /// Connects; with TLS the handshake follows, and fails the first exchange if it fails.
    static func open(
        _ server: ServerAddress, tls: NIOSSLContext?, limit: TimeAmount
    ) async throws(RedisStoreError) -> Connection {
        let end = ConnectionEnd()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(limit)
            .channelOption(.socketOption(.so_keepalive), value: server.port == 0 ? 0 : 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let name = IPAddress(server.host) == nil ? server.host : nil
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: name))
                    }
                    try channel.pipeline.syncOperations.addHandler(ExchangeHandler(server: "\(server)", end: end))
                }
            }
        do {
            let channel =
                server.port == 0
                ? try await bootstrap.connect(unixDomainSocketPath: server.host).get()
                : try await bootstrap.connect(host: server.host, port: server.port).get()
            return Connection(channel, server, end)
        } catch {
            throw RedisStoreError(connecting: error, to: "\(server)")
        }
    }

    /// Sends commands in one piece.
    ///
    /// Returns their answers, in order. After a failure the connection is closed.
    func exchange(_ bytes: ByteBuffer, count: Int, limit: TimeAmount) async throws(ExchangeFailure) -> [Reply] {
        let promise = channel.eventLoop.makePromise(of: [Reply].self)
        let (server, end) = (server, end)
        let exchange = Exchange(bytes: bytes, count: count, limit: limit, promise: promise)
        channel.writeAndFlush(exchange).whenFailure { error in
            // A handler that has accepted it learns why the connection ends; otherwise nothing was sent.
            guard !exchange.isAccepted else { return }
            let reason = end.reason ?? RedisStoreError(connecting: error, to: "\(server)")
            promise.fail(ExchangeFailure(error: reason, wasSent: false))
        }
        do {
            return try await promise.futureResult.get()
        } catch let failure as ExchangeFailure {
            throw failure
        } catch {
            throw ExchangeFailure(error: RedisStoreError(connecting: error, to: "\(server)"), wasSent: true)
        }
    }

    /// The answers to commands of words.
    func ask(_ commands: [Command], limit: TimeAmount) async throws(RedisStoreError) -> [Reply] {
        var buffer = ByteBuffer()
        for command in commands { command.write(to: &buffer, digests: nil) }
        do {
            return try await exchange(buffer, count: commands.count, limit: limit)
        } catch {
            throw error.error
        }
    }

    var isOpen: Bool { channel.isActive }

    /// Calls a closure when the connection is closed, also when it is already.
    func whenClosed(_ body: @escaping @Sendable () -> Void) {
        channel.closeFuture.whenComplete { _ in body() }
    }

    func close() {
        channel.close(promise: nil)
    }
}
