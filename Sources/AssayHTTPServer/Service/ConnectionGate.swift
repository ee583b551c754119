internal import NIOCore

/// The gate in the pipeline of the listening channel, which accepts a connection when there is room for one.
final class ConnectionGate: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    private let admission: ConnectionAdmission
    private var isWaiting = false

    init(_ admission: ConnectionAdmission) {
        self.admission = admission
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        admission.opened()
        let bound = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
        unwrapInboundIn(data).closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (gate, context) = bound.value
            gate.admission.closed()
            if gate.isWaiting, gate.admission.hasRoom() {
                gate.isWaiting = false
                context.read()
            }
        }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        guard admission.hasRoom() else {
            isWaiting = true
            return
        }
        context.read()
    }
}
