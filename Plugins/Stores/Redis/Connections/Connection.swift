internal import AssayCore
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

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
    /// The number of the last exchange; another one on each connection.
    private let lastExchange = Atomic(UInt64.random(in: 0...UInt64.max >> 1))

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

    /// Sends commands in one piece, and a script that returns a number of its own after them.
    ///
    /// Returns their answers, in order. After a failure the connection is closed: also when the number does not come back, so that
    /// no answer is taken for that to another command where answers are repeated or lost on the way.
    func exchange(_ bytes: ByteBuffer, count: Int, limit: TimeAmount) async throws(ExchangeFailure) -> [RedisReply] {
        let number = "\(lastExchange.wrappingAdd(1, ordering: .relaxed).newValue)"
        var bytes = bytes
        // Unlike PING, a script that writes nothing is also answered by a server that refuses writes.
        Command("EVAL", "return ARGV[1]", "0", number).write(to: &bytes, digests: nil)
        var replies = try await send(bytes, count: count + 1, limit: limit)
        let echo = replies.popLast()
        if case .error(let error)? = echo {
            // A server that answers nothing but errors now. Where something else is among them, it may be of another exchange.
            if replies.allSatisfy(\.isError) { return replies }
            throw abandoned(RedisStoreError(answer: error, from: "\(server)"))
        }
        guard let found = echo?.bytes, found.elementsEqual(number.utf8) else {
            throw abandoned(RedisStoreError(.badAnswer, "\(server): the answers are not those to what was asked"))
        }
        return replies
    }

    private func abandoned(_ error: RedisStoreError) -> ExchangeFailure {
        end.note(error)
        close()
        return ExchangeFailure(error: error, wasSent: true)
    }

    private func send(_ bytes: ByteBuffer, count: Int, limit: TimeAmount) async throws(ExchangeFailure) -> [RedisReply]
    {
        let promise = channel.eventLoop.makePromise(of: [RedisReply].self)
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
    func ask(_ commands: [Command], limit: TimeAmount) async throws(RedisStoreError) -> [RedisReply] {
        var buffer = ByteBuffer()
        for command in commands { command.write(to: &buffer, digests: nil) }
        do {
            return try await send(buffer, count: commands.count, limit: limit)
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
