internal import NIOCore

/// Reports arriving bytes before the parser, which is silent until a head is complete; and keeps them from the parser
/// once nothing more is to be read.
final class InputGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Sent through the pipeline before the bytes.
    struct BytesArrived: Sendable {
        let count: Int
    }

    /// Whether bytes are thrown away.
    var isShut = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Sends bytes past the protocol's encoder.
    func send(_ bytes: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isShut else { return }
        context.fireUserInboundEventTriggered(BytesArrived(count: unwrapInboundIn(data).readableBytes))
        context.fireChannelRead(data)
    }
}

/// The end of the pipeline of HTTP/1.1: it forwards requests to the connection's task.
///
/// Its queue is bounded: the reader before it delays reads while requests wait.
final class InputSink: ChannelInboundHandler {
    typealias InboundIn = HTTPInput

    private let exchanges: AsyncStream<HTTPExchange>.Continuation
    private let backlog: Backlog

    init(_ exchanges: AsyncStream<HTTPExchange>.Continuation, _ backlog: Backlog) {
        self.exchanges = exchanges
        self.backlog = backlog
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        backlog.add()
        exchanges.yield(
            HTTPExchange(input: unwrapInboundIn(data), isConcurrent: false) { try await channel.writeAndFlush($0) })
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        exchanges.finish()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        exchanges.finish()
    }
}
