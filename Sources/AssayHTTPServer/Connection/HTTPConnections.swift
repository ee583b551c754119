internal import AssayCore
internal import AssayHTTP
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOSSL

/// Handles each accepted connection: reads requests and answers them, one after the other, or concurrently with HTTP/2.
struct HTTPConnections: Sendable {
    let gateway: HTTPGateway
    /// The date of replies.
    let clock: ReplyDate
    let limits: HTTPLimits
    let admission: ConnectionAdmission
    /// What refuses requests, without the gate of their thread.
    let requests: RequestAdmission
    /// Nil in tests without sockets.
    var threads: ConnectionThreads?
    let metrics: ConnectionMetrics
    let budget: TransportBudget
    /// The server's certificate for TLS; nil to serve without TLS.
    var certificate: ServerCertificate?

    /// There is no room for a connection.
    private struct Full: Error {}

    func setUp(_ channel: any Channel) -> EventLoopFuture<HTTPConnection> {
        let connection = channel.eventLoop.makeCompletedFuture {
            // Without room nothing is accepted: even a handshake costs resources.
            let peer = boundedPeer(channel)
            let room = budget.rooms.open(peer, in: budget)
            channel.closeFuture.whenComplete { [rooms = budget.rooms] _ in rooms.close(peer) }
            guard let reservation = Reservation.connection(room, isSecure: certificate != nil) else {
                throw HTTPConnections.Full()
            }
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(reservation) {} }
            // The size of one read limits how many pipelined requests wait in memory: a hundred of about 400 bytes
            // each. Most requests are shorter.
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 4096, maximum: 4096))
            // Otherwise the system would buffer megabytes that a client does not read.
            try channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: limits.sendBufferBytes)

            let exit = DirectClose()
            try channel.pipeline.syncOperations.addHandler(exit)
            let bound = NIOLoopBound(exit, eventLoop: channel.eventLoop)

            let (exchanges, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
            let backlog = Backlog()
            // Also when no task reads them, because the server is shutting down.
            continuation.onTermination = { _ in channel.close(promise: nil) }
            if let certificate {
                let handshake = Handshake(limits: limits, admission: admission) { channel, protocolName in
                    if protocolName.isExactly("h2") {
                        try addHTTP2(to: channel, continuation, reservation, room)
                    } else {
                        try addHTTP1(to: channel, continuation, backlog, room)
                    }
                }
                channel.closeFuture.whenComplete { _ in continuation.finish() }
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificate.context))
                try channel.pipeline.syncOperations.addHandler(handshake)
            } else {
                try addHTTP1(to: channel, continuation, backlog, room)
            }
            metrics.opened()
            channel.closeFuture.whenComplete { _ in metrics.closed() }
            return HTTPConnection(channel: channel, exchanges: exchanges, backlog: backlog) {
                [eventLoop = channel.eventLoop] in
                eventLoop.execute { bound.value.close() }
            }
        }
        // A connection that was never passed on is closed here.
        connection.whenFailure { _ in channel.close(promise: nil) }
        return connection
    }

    /// The peer of a connection, if the peer is limited to its share: all but trusted proxies are.
    private func boundedPeer(_ channel: any Channel) -> PeerGroup? {
        let address = channel.peerAddress
        return gateway.trusts(address) ? nil : PeerGroup(address)
    }

    func addHTTP1(
        to channel: any Channel, _ exchanges: AsyncStream<HTTPExchange>.Continuation, _ backlog: Backlog,
        _ room: PeerBudget
    ) throws {
        var headerLimits = NIOHTTPDecoderLimitConfiguration()
        headerLimits.maxHeaderFieldSize = limits.headerBytes
        headerLimits.maxHeaderListSize = limits.headerBytes
        headerLimits.maxHeaderFieldCount = limits.headerFields
        let gate = InputGate()
        let requests = requests.of(channel, gate: threads?.gate(of: channel))
        try channel.pipeline.syncOperations.addHandlers([
            gate,
            HTTPResponseEncoder(),
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: headerLimits)),
            RequestReader(
                limits: limits, gate: gate, admission: admission, metrics: metrics, room: room, requests: requests,
                reading: RequestReading(limits: limits, room: room, routeHead: gateway.routeHead)),
            InputSink(exchanges, backlog),
        ])
    }

    func addHTTP2(
        to channel: any Channel, _ exchanges: AsyncStream<HTTPExchange>.Continuation, _ reservation: Reservation,
        _ room: PeerBudget
    ) throws {
        let gate = InputGate()
        let connection = StreamConnection(
            limits: limits, gate: gate, admission: admission, metrics: metrics, exchanges: exchanges,
            streams: ConnectionStreams(limits: limits, room: room))
        let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
        let configuration = NIOHTTP2Handler.Configuration(limits, isProxy: !room.isBounded)
        let requests = requests.of(channel, gate: threads?.gate(of: channel))
        let streams = NIOHTTP2Handler(
            mode: .server, eventLoop: channel.eventLoop, connectionConfiguration: configuration.connection,
            streamConfiguration: configuration.stream
        ) { [limits, gateway, requests] stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(
                    StreamReader(
                        limits: limits, connection: bound.value, requests: requests,
                        reading: StreamReading(limits: limits, routeHead: gateway.routeHead)))
            }
        }
        // Nothing is read from a client that does not read its replies.
        let frames = FrameGate { change in
            if change > 0 { return reservation.hold(change) }
            reservation.drop(-change)
            return true
        }
        try channel.pipeline.syncOperations.addHandlers([BackPressureHandler(), gate, frames, streams, connection])
    }

    /// Answers the requests of a connection until it ends.
    ///
    /// - Parameter executor: what runs this task; nil in tests without sockets.
    func serve(_ connection: HTTPConnection, on executor: EventLoopExecutor?, logger: Logger) async {
        let channel = connection.channel
        let peer = channel.peerAddress
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                // The reader closes the connection, which ends the exchanges.
                for await exchange in connection.exchanges {
                    if exchange.isConcurrent {
                        // A proxy may send everything through one connection: then all threads of the process share the work.
                        let isShared = !exchange.isAlone && (threads?.areSeveral ?? true)
                        let preference: (any TaskExecutor)? = isShared ? globalConcurrentExecutor : executor
                        group.addTask(executorPreference: preference) {
                            // The failure of one stream does not affect the others.
                            _ = await answer(exchange, on: nil, peer: peer, logger: logger)
                        }
                    } else {
                        let hasFollowers = connection.backlog.take() > 0
                        guard await answer(exchange, on: executor, peer: peer, logger: logger) else { break }
                        // A client that sends many requests at once waits for the others after each.
                        if hasFollowers { await executor?.giveWay() }
                    }
                }
            }
        } onCancel: {
            // The time for clients is over: none is waited for.
            connection.close()
        }
        try? await channel.close()
    }

    /// Returns whether the reply arrived.
    private nonisolated(nonsending) func answer(
        _ exchange: HTTPExchange, on executor: EventLoopExecutor?, peer: String?, logger: Logger
    ) async -> Bool {
        let reservation = exchange.input.reservation
        // Kept until the client's system has received the reply, even if the request itself is released before.
        defer { withExtendedLifetime(reservation) {} }
        do {
            if let refusal = exchange.input.refusal {
                await executor?.sleep(for: refusal.delay)
                try await exchange.send(refusal.reply)
                return true
            }
            if let refusal = requests.begin(exchange.input) {
                try await exchange.send(refusal)
                return true
            }
            var reply =
                switch exchange.input.content {
                case .request(let request): await gateway.reply(to: request, peer: peer)
                case .fault(let fault, let request): gateway.reply(to: fault, of: request, peer: peer)
                }
            // The reply to a fault is as short as the one that would take its place, and was counted.
            if case .request = exchange.input.content, let reservation, !reservation.hold(reply.body.count) {
                reply = gateway.replyWithoutRoom()
            }
            reply.headers.append(("date", clock.text))
            try await exchange.send(ServerReply(reply, to: exchange.input))
            return true
        } catch {
            logger.trace("a connection broke", metadata: ["error": "\(error)"])
            return false
        }
    }
}
