import AssayTestSupport
import NIOCore
import NIOPosix
import Synchronization

/// Passes bytes on to a socket file, ends all connections after so many bytes in one direction, and repeats what the server sends.
final class CuttingProxy: Sendable {
    enum Direction: Sendable { case toServer, toClient }

    private struct State {
        var cut: (Direction, left: Int)?
        var repeats = false
        var random = SplitMix(seed: 1)
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// The ends of the channels that were cut.
        var ends: [EventLoopFuture<Void>] = []
    }

    private let state = Mutex(State())
    private let listener = Mutex<(any Channel)?>(nil)

    var port: Int { listener.withLock { $0?.localAddress?.port ?? 0 } }

    init(to socket: String) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop).connect(unixDomainSocketPath: socket).flatMap { server in
                    self.state.withLock { state in
                        for channel in [client, server] { state.channels[ObjectIdentifier(channel)] = channel }
                    }
                    return client.eventLoop.makeCompletedFuture {
                        try client.pipeline.syncOperations.addHandler(Glue(self, .toServer, server))
                        try server.pipeline.syncOperations.addHandler(Glue(self, .toClient, client))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        listener.withLock { $0 = channel }
    }

    /// Ends the connections when so many bytes more have passed; once.
    func cut(_ direction: Direction, after count: Int) {
        state.withLock { $0.cut = (direction, count) }
    }

    /// While it is true, about every third part of what the server sends comes twice.
    func `repeat`(_ repeats: Bool) {
        state.withLock { $0.repeats = repeats }
    }

    fileprivate var repeatsNext: Bool { state.withLock { $0.repeats && $0.random.happens(onceIn: 3) } }

    /// Whether the cut was made.
    var isCut: Bool { state.withLock { $0.cut == nil } }

    /// Waits until what was cut is closed: a connection that still works then is a new one.
    func waitForEnds() async throws {
        let ends = state.withLock { state in
            defer { state.ends = [] }
            return state.ends
        }
        for end in ends { try await end.get() }
    }

    func close() {
        listener.withLock { $0?.close(promise: nil) }
        closeAll()
    }

    fileprivate func closeAll() {
        let channels = state.withLock { state in
            defer { state.channels = [:] }
            state.ends += state.channels.values.map(\.closeFuture)
            return state.channels.values
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// How many of the bytes pass, and whether they are the last ones.
    fileprivate func pass(_ count: Int, _ direction: Direction) -> (Int, isLast: Bool) {
        state.withLock { state in
            guard let cut = state.cut, cut.0 == direction else { return (count, false) }
            guard count > cut.left else {
                state.cut = (direction, cut.left - count)
                return (count, false)
            }
            state.cut = nil
            return (cut.left, true)
        }
    }

    private final class Glue: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let proxy: CuttingProxy
        private let direction: Direction
        private let partner: any Channel

        init(_ proxy: CuttingProxy, _ direction: Direction, _ partner: any Channel) {
            (self.proxy, self.direction, self.partner) = (proxy, direction, partner)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            let (count, isLast) = proxy.pass(bytes.readableBytes, direction)
            if direction == .toClient, proxy.repeatsNext { partner.writeAndFlush(bytes, promise: nil) }
            let written = partner.writeAndFlush(bytes.readSlice(length: count) ?? ByteBuffer())
            if isLast { written.whenComplete { [proxy] _ in proxy.closeAll() } }
        }

        func channelInactive(context: ChannelHandlerContext) {
            partner.close(promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}

/// A server that answers whatever it gets with the same bytes, once or for ever.
final class ScriptedServer: Sendable {
    private let listener: any Channel
    let sent: Counter

    var port: Int { listener.localAddress?.port ?? 0 }

    /// Counts the bytes that were taken by the system.
    final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }

        func add(_ number: Int) { count.withLock { $0 += number } }
    }

    init(_ first: [UInt8], forever: [UInt8] = []) async throws {
        let counter = Counter()
        sent = counter
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answering(first, forever, counter))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func close() { listener.close(promise: nil) }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let first: [UInt8]
        private let forever: [UInt8]
        private let counter: Counter
        private var hasAnswered = false

        init(_ first: [UInt8], _ forever: [UInt8], _ counter: Counter) {
            (self.first, self.forever, self.counter) = (first, forever, counter)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasAnswered else { return }
            hasAnswered = true
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: first)), promise: nil)
            if !forever.isEmpty { goOn(context) }
        }

        private func goOn(_ context: ChannelHandlerContext) {
            let count = forever.count
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: forever))).whenSuccess { [counter] in
                counter.add(count)
                bound.value.0.goOn(bound.value.1)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
