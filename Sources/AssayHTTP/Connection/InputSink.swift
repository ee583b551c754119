internal import NIOCore

/// The end of the pipeline of HTTP/1.1: from here requests go to the connection's task.
///
/// Not an unbounded queue: the reader ahead of it holds reads back while requests wait.
final class InputSink: ChannelInboundHandler {
    typealias InboundIn = HTTPInput

    private let exchanges: AsyncStream<HTTPExchange>.Continuation

    init(_ exchanges: AsyncStream<HTTPExchange>.Continuation) {
        self.exchanges = exchanges
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
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
