package import NIOCore

/// Stands ahead of the parser of HTTP/2, and lets it see no larger SETTINGS_HEADER_TABLE_SIZE than 4096.
///
/// For every listener that speaks HTTP/2.
package final class FrameGate: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let hold: (_ change: Int) -> Bool
    private var scanner = FrameScanner()
    private var held = 0

    /// - Parameter hold: takes bytes into account that the parser keeps because their frame is not complete, or fewer than
    ///   before; says whether they fit. When not, the connection is closed.
    package init(hold: @escaping (_ change: Int) -> Bool = { _ in true }) {
        self.hold = hold
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        scanner.pass(&bytes)
        if scanner.unfinished != held {
            guard hold(scanner.unfinished - held) else {
                context.close(promise: nil)
                return
            }
            held = scanner.unfinished
        }
        context.fireChannelRead(wrapInboundOut(bytes))
    }
}
