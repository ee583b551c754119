internal import NIOCore

/// Closes connections whose client is silent: at first until it begins to speak, and later although it was asked for a
/// sign of life.
///
/// The transport behind it only asks such a client to go.
final class ConnectionTimer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let openingTime: TimeAmount
    private let silence: TimeAmount
    private var lastRead: NIODeadline?
    private var timer: Scheduled<Void>?

    init(_ limits: ExtAuthzLimits) {
        openingTime = TimeAmount(limits.openingTime)
        silence = TimeAmount(limits.pingTime * 3)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        schedule(context, at: context.eventLoop.now + openingTime)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = context.eventLoop.now
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    private func schedule(_ context: ChannelHandlerContext, at deadline: NIODeadline) {
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(deadline: deadline) {
            let (handler, context) = bound.value
            handler.fire(context)
        }
    }

    private func fire(_ context: ChannelHandlerContext) {
        guard let lastRead, lastRead + silence > context.eventLoop.now else {
            context.close(promise: nil)
            return
        }
        schedule(context, at: lastRead + silence)
    }
}
