internal import NIOCore

/// The end of the pipeline: from here requests go to the connection's task.
///
/// Not an unbounded queue: the reader ahead of it holds reads back while requests wait.
final class InputSink: ChannelInboundHandler {
    typealias InboundIn = HTTPInput

    private let inputs: AsyncStream<HTTPInput>.Continuation

    init(_ inputs: AsyncStream<HTTPInput>.Continuation) {
        self.inputs = inputs
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        inputs.yield(unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        inputs.finish()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        inputs.finish()
    }
}
