internal import NIOCore

/// Watches a connection, and closes it when its lifetime is over (``ConnectionLifetime``).
///
/// Its streams find their limits here. What it reads continues within the share of its peer (``LoopSharing``).
///
/// The transport after it only asks clients to leave.
final class ConnectionGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// What the connection's calls may hold.
    let room: ConnectionBudget
    let forwarded: ForwardedCalls
    /// The open streams.
    private var calls: [Int: CallGuard] = [:]
    private lazy var closedStreams = ClosedStreams(total, eventLoop: eventLoop) { [weak self] in self?.resume() }
    private let total: ClosedStreams.Total
    private let sharing: LoopSharing
    /// Called when more may be read again, and often besides.
    var onResume: (() -> Void)?
    private let connection: OpenConnection
    private let eventLoop: any EventLoop
    private var lifetime: ConnectionLifetime
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var due = NIODeadline.distantFuture

    init(
        _ connection: OpenConnection, _ limits: ExtAuthzLimits, room: ConnectionBudget, forwarded: ForwardedCalls,
        closed: ClosedStreams.Total, sharing: LoopSharing, eventLoop: any EventLoop
    ) {
        total = closed
        self.sharing = sharing
        self.connection = connection
        self.room = room
        self.forwarded = forwarded
        self.eventLoop = eventLoop
        lifetime = ConnectionLifetime(limits, opened: eventLoop.now)
    }

    /// A stream is open.
    func opened(_ stream: Int, _ call: CallGuard) {
        calls[stream] = call
    }

    /// A stream is closed.
    ///
    /// - Parameter channel: its channel, if no service has received a call of it.
    func closed(_ stream: Int, _ channel: (any Channel)?) {
        calls[stream] = nil
        if let channel, context != nil { closedStreams.add(channel) }
    }

    /// Whether more may be read: not while the library holds many streams that are closed, nor when the peer's share is used.
    var mayRead: Bool {
        guard context != nil, closedStreams.mayRead else { return false }
        return sharing.mayContinue(ObjectIdentifier(self), of: connection.peer) { [weak self] in self?.resume() }
    }

    private func resume() {
        sharing.work(for: connection.peer) { onResume?() }
    }

    /// The client has reset a stream.
    func reset(_ stream: Int) {
        calls[stream]?.reset()
    }

    /// A service has received a call.
    func callBegan() {
        lifetime.callBegan()
        connection.callBegan()
    }

    /// A service has begun to answer a call.
    func callAnswered() {
        connection.callAnswered(at: eventLoop.now)
    }

    /// A service's call is over.
    func callEnded() {
        lifetime.callEnded(at: eventLoop.now)
        look()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        sharing.open(connection.peer)
        look()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lifetime.read(at: eventLoop.now)
        sharing.work(for: connection.peer) { context.fireChannelRead(data) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The transport asks the client to leave, and waits until it has answered.
        context.fireUserInboundEventTriggered(event)
        guard event is ChannelShouldQuiesceEvent else { return }
        lifetime.quiesce(at: eventLoop.now)
        look()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    private func stop() {
        guard context != nil else { return }
        timer?.cancel()
        context = nil
        sharing.close(ObjectIdentifier(self), of: connection.peer)
    }

    /// Ends the connection if its lifetime is over; otherwise schedules the next check.
    private func look() {
        guard context != nil else { return }
        let end = lifetime.end
        guard end > eventLoop.now else {
            connection.close()
            return
        }
        // The end usually moves later, and is checked again at its earlier time.
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
