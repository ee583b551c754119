package import NIOCore

/// Is first in a connection's pipeline, and closes it without TLS's closing messages, because these would wait for a
/// silent client.
package final class DirectClose: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer

    private var context: ChannelHandlerContext?

    package init() {}

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    package func close() {
        context?.close(promise: nil)
    }
}
