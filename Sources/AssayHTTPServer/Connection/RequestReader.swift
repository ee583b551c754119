internal import AssayCore
internal import AssayHTTP
internal import NIOCore
internal import NIOHTTP1

/// Reads requests of HTTP/1.x and writes their replies, as ``RequestReading`` decides.
final class RequestReader: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPInput
    typealias OutboundIn = ServerReply
    typealias OutboundOut = HTTPServerResponsePart

    private let limits: HTTPLimits
    private let gate: InputGate
    private let admission: ConnectionAdmission
    private let metrics: ConnectionMetrics
    private let room: PeerBudget
    private let requests: RequestAdmission
    private var reading: RequestReading
    private var timer: WaitTimer?
    /// The place in the queue of connections that may have to make room, while the server waits for the client.
    private var ticket: IdleQueue.Ticket?
    /// The place among the replies that are not read.
    private var unread: QueueTicket?

    init(
        limits: HTTPLimits, gate: InputGate, admission: ConnectionAdmission, metrics: ConnectionMetrics,
        room: PeerBudget,
        requests: RequestAdmission, reading: RequestReading
    ) {
        self.limits = limits
        self.gate = gate
        self.admission = admission
        self.metrics = metrics
        self.room = room
        self.requests = requests
        self.reading = reading
    }

    // MARK: - The connection

    func handlerAdded(context: ChannelHandlerContext) {
        timer = WaitTimer(context.eventLoop) { [unowned self] in perform(reading.expire(), context) }
        if context.channel.isActive { perform(reading.begin(), context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        perform(reading.begin(), context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        reading.end()
        stopWaiting()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stopWaiting()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let arrived as InputGate.BytesArrived: perform(reading.received(bytes: arrived.count), context)
        // It is not forwarded, because that would close the connection.
        case ChannelEvent.inputClosed: perform(reading.inputClosed(), context)
        case is ChannelShouldQuiesceEvent: perform(reading.quiesce(), context)
        case is ConnectionAdmission.MakeRoom: perform(reading.makeRoom(), context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: perform(reading.failed(.headersTooLarge), context)
        case is HTTPParserError, is ByteToMessageDecoderError: perform(reading.failed(.malformed), context)
        default: context.fireErrorCaught(error)
        }
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): perform(reading.received(RequestStart(head)), context)
        case .body(let buffer): perform(reading.received(body: buffer.readableBytesView), context)
        case .end: perform(reading.receivedEnd(), context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        perform(reading.next(), context)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if reading.wantsRead() { context.read() }
    }

    // MARK: - Replies

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let answer = unwrapOutboundIn(data)
        let isLast = reading.replied(endsConnection: answer.endsConnection)
        if isLast { gate.isShut = true }
        let status = HTTPResponseStatus(statusCode: answer.reply.status.code)
        var headers = HTTPHeaders()
        headers.reserveCapacity(answer.reply.headers.count + 2)
        for field in answer.reply.headers { headers.add(name: field.name, value: field.value) }
        // A reply that never has a body must have no header about one (RFC 9110, section 8.6).
        let hasBody = status.mayHaveResponseBody
        if hasBody { headers.add(name: "content-length", value: String(answer.reply.body.count)) }
        if isLast {
            headers.add(name: "connection", value: "close")
        } else if answer.announcesKeepAlive {
            headers.add(name: "connection", value: "keep-alive")
        }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if hasBody, !answer.omitsBody {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.reply.body)))), promise: nil)
        }

        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((reader: self, context: context), eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in
            let (reader, context) = bound.value
            reader.perform(reader.reading.delivered(isLast: isLast), context)
            if !reader.reading.hasUnread { reader.endUnread() }
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        if reading.hasUnread, unread == nil { beginUnread(context) }
        perform(reading.next(), context)
    }

    private func beginUnread(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((reader: self, context: context), eventLoop: context.eventLoop)
        unread = room.beginUnread(bytes: reading.bytes) { [eventLoop = context.eventLoop] in
            eventLoop.execute {
                let (reader, context) = bound.value
                guard reader.unread != nil else { return }
                reader.metrics.gaveUpReply()
                context.close(promise: nil)
            }
        }
    }

    private func endUnread() {
        if let unread { room.endUnread(unread) }
        unread = nil
    }

    // MARK: - Carrying out decisions

    private func perform(_ actions: RequestReading.Actions, _ context: ChannelHandlerContext) {
        if actions.shutsInput { gate.isShut = true }
        var refusal: ServerReply?
        if var input = actions.input {
            // A request that comes ahead of earlier replies waits for them, and not for a thread.
            let refused = reading.isWithoutOthers ? requests.admit(&input) : nil
            if let refused, refused.delay == .zero {
                refusal = refused.reply
            } else {
                // Later requests may have been read already: what is said later is said in its turn.
                input.refusal = refused
                context.fireChannelRead(wrapInboundOut(input))
            }
        }
        if actions.stays { admission.stay() }
        if actions.sendsContinue {
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
        if let wait = actions.wait { begin(wait, context) }
        if actions.closesOutput { context.close(mode: .output, promise: nil) }
        // This comes last, since it may bring in the next bytes at once.
        if actions.reads { context.read() }
        if actions.closes { context.close(promise: nil) }
        if let refusal { write(context: context, data: NIOAny(refusal), promise: nil) }
    }

    private func begin(_ wait: Wait, _ context: ChannelHandlerContext) {
        let limit = wait.limit(limits)
        timer?.start(limit)
        if let ticket { admission.end(ticket) }
        ticket = limit.map { _ in admission.begin(context.channel) }
    }

    private func stopWaiting() {
        timer?.stop()
        timer = nil
        if let ticket { admission.end(ticket) }
        ticket = nil
    }
}

extension RequestStart {
    fileprivate init(_ head: HTTPRequestHead) {
        self.init(
            request: GatewayRequest(
                method: head.method.rawValue, target: head.uri,
                headers: HeaderFields(head.headers)),
            isHTTP10: head.version == .http1_0, isKeepAlive: head.isKeepAlive)
    }
}
