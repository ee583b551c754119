internal import AssayCore
internal import AssayHTTP
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOHTTP2

/// Reads the frames of a stream and writes its reply as frames, as ``StreamReading`` decides.
final class StreamReader: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let limits: HTTPLimits
    private let connection: StreamConnection
    private let requests: RequestAdmission
    private var reading: StreamReading
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var isDelivered = false
    /// The place among the replies that are not read.
    private var unread: QueueTicket?

    init(limits: HTTPLimits, connection: StreamConnection, requests: RequestAdmission, reading: StreamReading) {
        self.limits = limits
        self.connection = connection
        self.requests = requests
        self.reading = reading
    }

    // MARK: - The stream

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let stream = try? context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
        connection.perform(connection.streams.opened(Int(stream ?? .rootStream)))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Errors of the connection are handled there.
    }

    private func end() {
        guard let actions = reading.end(in: &connection.streams) else { return }
        stopTimer()
        context = nil
        connection.perform(actions)
    }

    // MARK: - The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            let isHead = frame.headers.first(name: ":method").isExactly("HEAD")
            perform(
                reading.received(isHead: isHead, ends: frame.endStream, in: &connection.streams) {
                    () throws(HTTPFault) in try StreamRequest(frame.headers, limits: limits)
                })
        case .data(let frame):
            guard case .byteBuffer(let buffer) = frame.data else { return }
            perform(
                reading.received(body: buffer.readableBytesView, ends: frame.endStream, in: &connection.streams))
        default:
            break
        }
    }

    private func pass(_ content: HTTPInput.Content, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        var input = HTTPInput(
            content: content, omitsBody: reading.omitsBody, endsConnection: false, announcesKeepAlive: false,
            reservation: reading.reservation)
        if let refusal = requests.admit(&input) {
            connection.perform(connection.streams.passed(input))
            guard refusal.delay > .zero else {
                _ = send(refusal.reply, on: context.eventLoop)
                return
            }
            context.eventLoop.scheduleTask(in: TimeAmount(refusal.delay)) { [eventLoop = context.eventLoop] in
                _ = bound.value.send(refusal.reply, on: eventLoop)
            }
            return
        }
        connection.pass(input) { [eventLoop = context.eventLoop] answer in
            try await eventLoop.flatSubmit { bound.value.send(answer, on: eventLoop) }.get()
        }
    }

    // MARK: - The reply

    private func send(_ answer: ServerReply, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let reply = answer.reply
        let (sends, actions) = reading.replied(bytes: reply.body.count, in: &connection.streams)
        connection.perform(actions)
        guard sends, let context else { return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        var fields = HPACKHeaders(status: reply.status.code, reply.headers)
        // A reply that never has a body must have no header about one (RFC 9110, section 8.6).
        let hasBody = HTTPResponseStatus(statusCode: reply.status.code).mayHaveResponseBody
        if hasBody { fields.add(name: "content-length", value: String(reply.body.count), indexing: .nonIndexable) }
        let sendsBody = hasBody && !answer.omitsBody && !reply.body.isEmpty

        start(.delivery, context)
        let written = eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        written.futureResult.whenComplete { _ in bound.value.delivered() }
        let head = HTTP2Frame.FramePayload.headers(.init(headers: fields, endStream: !sendsBody))
        context.write(wrapOutboundOut(head), promise: sendsBody ? nil : written)
        if sendsBody {
            let data = HTTP2Frame.FramePayload.data(
                .init(data: .byteBuffer(ByteBuffer(bytes: reply.body)), endStream: true))
            context.write(wrapOutboundOut(data), promise: written)
        }
        isDelivered = false
        context.flush()
        if !isDelivered { beginUnread(on: eventLoop) }
        return written.futureResult
    }

    private func beginUnread(on eventLoop: any EventLoop) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        unread = connection.streams.room.beginUnread(bytes: reading.reservation?.bytes ?? 0) {
            eventLoop.execute { bound.value.abandon() }
        }
    }

    private func abandon() {
        guard unread != nil else { return }
        connection.gaveUpReply()
        perform(reading.abandon())
    }

    private func delivered() {
        isDelivered = true
        if let unread { connection.streams.room.endUnread(unread) }
        unread = nil
        let (actions, connectionActions) = reading.delivered(in: &connection.streams)
        connection.perform(connectionActions)
        perform(actions)
    }

    // MARK: - Carrying out decisions

    private func perform(_ actions: StreamReading.Actions) {
        guard let context else { return }
        switch actions.timer {
        case .kept: break
        case .stopped: stopTimer()
        case .started(let wait): start(wait, context)
        }
        if let content = actions.content { pass(content, context) }
        if actions.sendsContinue {
            context.writeAndFlush(
                wrapOutboundOut(.headers(.init(headers: HPACKHeaders(status: 100, [])))), promise: nil)
        }
        switch actions.reset {
        case .refused: context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
        case .noError: context.writeAndFlush(wrapOutboundOut(.rstStream(.noError)), promise: nil)
        case .unread: context.writeAndFlush(wrapOutboundOut(.rstStream(.enhanceYourCalm)), promise: nil)
        case nil: break
        }
        if actions.closes { context.close(promise: nil) }
    }

    private func start(_ wait: Wait, _ context: ChannelHandlerContext) {
        stopTimer()
        guard let limit = wait.limit(limits) else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            let reader = bound.value
            reader.perform(reader.reading.expire())
        }
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
    }
}
