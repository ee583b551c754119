internal import NIOCore
internal import NIOTLS

/// Waits for the end of the TLS handshake, as long as a request's head may take, and is then replaced by the handlers
/// of the negotiated protocol.
final class Handshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let limits: HTTPLimits
    private let admission: ConnectionAdmission
    private let onEnd: (any Channel, _ protocolName: String?) throws -> Void
    private var timer: Scheduled<Void>?
    private var ticket: IdleQueue.Ticket?
    private var hasBegun = false

    /// - Parameter onEnd: adds the protocol's handlers to the pipeline; the name is that of ALPN, or nil if the client
    ///   named no supported one.
    init(
        limits: HTTPLimits, admission: ConnectionAdmission,
        onEnd: @escaping (any Channel, _ protocolName: String?) throws -> Void
    ) {
        self.limits = limits
        self.admission = admission
        self.onEnd = onEnd
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiated):
            stop()
            do {
                try onEnd(context.channel, negotiated)
            } catch {
                context.close(promise: nil)
                return
            }
            // At once, so that the bytes after the handshake reach the protocol's handlers.
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        case is ChannelShouldQuiesceEvent, is ConnectionAdmission.MakeRoom, ChannelEvent.inputClosed:
            context.close(promise: nil)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard !hasBegun else { return }
        hasBegun = true
        ticket = admission.begin(context.channel)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: TimeAmount(limits.headTime)) {
            bound.value.close(promise: nil)
        }
    }

    private func stop() {
        timer?.cancel()
        timer = nil
        if let ticket { admission.end(ticket) }
        ticket = nil
    }
}
