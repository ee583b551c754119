internal import NIOCore

/// Watches a connection, and closes it when it may not go on (``ConnectionLifetime``).
///
/// Its streams find here what they may hold.
///
/// The transport behind it only asks clients to go.
final class ConnectionGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// What the connection's calls may hold.
    let room: ConnectionRoom
    private let connection: OpenConnection
    private let eventLoop: any EventLoop
    private var lifetime: ConnectionLifetime
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var due = NIODeadline.distantFuture

    init(_ connection: OpenConnection, _ limits: ExtAuthzLimits, room: ConnectionRoom, eventLoop: any EventLoop) {
        self.connection = connection
        self.room = room
        self.eventLoop = eventLoop
        lifetime = ConnectionLifetime(limits, opened: eventLoop.now)
    }

    /// A service has got a call.
    func callBegan() {
        lifetime.callBegan()
        connection.callBegan()
    }

    /// A service has said something about a call that it got.
    func callAnswered() {
        connection.callAnswered(at: eventLoop.now)
    }

    /// A call that a service got is over.
    func callEnded() {
        lifetime.callEnded(at: eventLoop.now)
        look()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        look()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lifetime.read(at: eventLoop.now)
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    private func stop() {
        timer?.cancel()
        context = nil
    }

    /// Ends the connection if it may not go on, and looks again when that may be.
    private func look() {
        guard context != nil else { return }
        let end = lifetime.end
        guard end > eventLoop.now else {
            connection.close()
            return
        }
        // The end mostly moves away, and is looked up again when it would have come.
        guard end < due else { return }
        timer?.cancel()
        due = end
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        timer = eventLoop.scheduleTask(deadline: end) {
            bound.value.due = .distantFuture
            bound.value.look()
        }
    }
}
