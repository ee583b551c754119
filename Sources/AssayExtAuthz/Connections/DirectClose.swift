internal import NIOCore

/// Stands first in a connection's pipeline, and closes it without the farewells of TLS, which a silent client would be
/// waited for with.
final class DirectClose: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func close() {
        context?.close(promise: nil)
    }
}
