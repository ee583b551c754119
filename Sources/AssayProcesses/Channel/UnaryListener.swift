internal import NIOConcurrencyHelpers
package import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import NIOPosix

/// Serves unary gRPC on a Unix socket, for one client.
package final class UnaryListener: Sendable {
    /// The most bytes of a request.
    package static let requestLimit = 256 * 1024
    private static let connectionLimit = 2
    private static let streamLimit: UInt32 = 64

    /// The thread for what processes send without being asked: a flood delays only other processes.
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Answers a method's request; the bytes are those of the message.
    package typealias Handler = @Sendable (_ method: String, _ request: [UInt8]) async throws -> ByteBuffer

    private let channel: any Channel

    private init(_ channel: any Channel) {
        self.channel = channel
    }

    /// Listens on a path that does not exist yet.
    ///
    /// - Parameter services: the full names of the services, whose methods all have different names.
    package static func listen(
        on path: String, services: [String], requestLimit: Int = requestLimit, _ handler: @escaping Handler
    ) async throws -> UnaryListener {
        let open = ConnectionCount()
        let prefixes = services.map { "/\($0)/" }
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                guard open.enter(most: connectionLimit) else { return channel.close() }
                channel.closeFuture.whenComplete { _ in open.leave() }
                return channel.eventLoop.makeCompletedFuture {
                    var connection = NIOHTTP2Handler.ConnectionConfiguration()
                    connection.initialSettings = [
                        HTTP2Setting(parameter: .maxConcurrentStreams, value: Int(streamLimit)),
                        HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
                    ]
                    _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
                        mode: .server, connectionConfiguration: connection, streamConfiguration: .init()
                    ) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandler(
                                UnaryService(prefixes, requestLimit: requestLimit, handler))
                        }
                    }
                }
            }
            .bind(unixDomainSocketPath: path).get()
        return UnaryListener(channel)
    }

    package func close() async { try? await channel.close() }
}

/// The number of open connections.
private final class ConnectionCount: Sendable {
    private let count = NIOLockedValueBox(0)

    func enter(most: Int) -> Bool {
        count.withLockedValue { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLockedValue { $0 -= 1 } }
}

/// The stream of one call of a process.
private final class UnaryService: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// What comes before the name of a method, for each service.
    private let prefixes: [String]
    private let requestLimit: Int
    private let handler: UnaryListener.Handler
    private var hasHead = false
    private var method: String?
    private var request = ByteBuffer()
    private var task: Task<Void, Never>?

    init(_ prefixes: [String], requestLimit: Int, _ handler: @escaping UnaryListener.Handler) {
        self.prefixes = prefixes
        self.requestLimit = requestLimit
        self.handler = handler
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            guard !hasHead else { break }
            hasHead = true
            let path = frame.headers.first(name: ":path") ?? ""
            guard let prefix = prefixes.first(where: { path.utf8.starts(with: $0.utf8) }) else {
                return UnaryService.refuse(GRPCFailure(.unimplemented, "there is no such method"), context.channel)
            }
            method = String(decoding: path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
            if frame.endStream { answer(context) }
        case .data(let frame):
            guard task == nil, case .byteBuffer(var bytes) = frame.data else { return }
            guard request.readableBytes + bytes.readableBytes <= requestLimit else {
                request.clear()
                return UnaryService.refuse(
                    GRPCFailure(.resourceExhausted, "a request has at most \(requestLimit) bytes"),
                    context.channel)
            }
            request.writeBuffer(&bytes)
            if frame.endStream { answer(context) }
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        task?.cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ context: ChannelHandlerContext) {
        guard let method, task == nil else { return }
        let channel = context.channel
        guard let payload = GRPCMessage.payload(of: request) else {
            return UnaryService.refuse(GRPCFailure(.invalidArgument, "the request is not one message"), channel)
        }
        let handler = handler
        let bytes = Array(payload)
        request.clear()
        // What does not wait is answered without a change of threads.
        task = Task.immediate {
            do {
                UnaryService.send(try await handler(method, bytes), channel)
            } catch {
                UnaryService.refuse(error as? GRPCFailure ?? GRPCFailure(.internalError, "\(error)"), channel)
            }
        }
    }

    private static func send(_ reply: ByteBuffer, _ channel: any Channel) {
        channel.eventLoop.execute {
            let head: HPACKHeaders = [":status": "200", "content-type": "application/grpc"]
            channel.write(HTTP2Frame.FramePayload.headers(.init(headers: head)), promise: nil)
            channel.write(HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(reply))), promise: nil)
            channel.writeAndFlush(
                HTTP2Frame.FramePayload.headers(.init(headers: ["grpc-status": "0"], endStream: true)), promise: nil)
        }
    }

    private static func refuse(_ failure: GRPCFailure, _ channel: any Channel) {
        let headers: HPACKHeaders = [
            ":status": "200", "content-type": "application/grpc", "grpc-status": "\(failure.code.rawValue)",
            "grpc-message": GRPCText.encode(failure.message),
        ]
        channel.eventLoop.execute {
            channel.writeAndFlush(
                HTTP2Frame.FramePayload.headers(.init(headers: headers, endStream: true)), promise: nil)
        }
    }
}
