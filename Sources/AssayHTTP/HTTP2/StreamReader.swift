internal import AssayKit
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOHTTP2

/// Makes one whole request of the frames of a stream, within the limits on size and time, and sends the reply as frames.
///
/// A reply that comes before the end of its request is whole all the same; what the client still sends is thrown away for
/// a while, and then the stream is reset with NO_ERROR (RFC 9113, section 8.1).
final class StreamReader: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private enum State {
        case head
        case body(StreamRequest)
        case answer
        case delivery
        /// The reply is out, and the client goes on sending.
        case leaving
        case ended
    }

    private let limits: HTTPLimits
    private let connection: StreamConnection
    private var context: ChannelHandlerContext?
    private var state = State.head
    private var body = BodyBuffer()
    /// What this stream holds of the process's budget, until it is closed.
    private var reservation: Reservation?
    private var isInputEnded = false
    private var omitsBody = false
    /// What this stream holds of the connection's bytes.
    private var held = 0
    private var timer: Scheduled<Void>?

    private let ignoresBody: (_ method: String, _ target: String) -> Bool

    /// - Parameter ignoresBody: tells of which requests the body is not waited for.
    init(
        limits: HTTPLimits, connection: StreamConnection,
        ignoresBody: @escaping (_ method: String, _ target: String) -> Bool = { _, _ in false }
    ) {
        self.ignoresBody = ignoresBody
        self.limits = limits
        self.connection = connection
    }

    // MARK: - The stream

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let stream = try? context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
        connection.streamOpened(stream ?? .rootStream)
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
        // What concerns the connection is seen to there.
    }

    private func end() {
        switch state {
        case .ended: return
        case .head, .body: release()
        // What the kernel has, or the system, is there as long as they have it.
        case .answer, .delivery, .leaving: break
        }
        state = .ended
        stopTimer()
        context = nil
        body = BodyBuffer()
        reservation = nil
        connection.streamClosed()
    }

    private func hold(_ count: Int) -> Bool {
        guard connection.hold(count) else { return false }
        held += count
        return true
    }

    private func release() {
        connection.release(held)
        held = 0
    }

    // MARK: - The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame):
            isInputEnded = frame.endStream
            switch state {
            case .head: begin(frame.headers, context)
            // Trailers: nothing of this transport's business stands there.
            case .body(let request): if isInputEnded { complete(request, context) }
            case .answer, .delivery, .leaving, .ended: break
            }
        case .data(let frame):
            isInputEnded = frame.endStream
            guard case .body(let request) = state, case .byteBuffer(let buffer) = frame.data else { return }
            guard body.count + buffer.readableBytes <= limits.bodyBytes else {
                pass(.fault(.bodyTooLarge(limit: limits.bodyBytes), request.head), context)
                return
            }
            guard hold(buffer.readableBytes) else {
                pass(.fault(.tooManyRequests, request.head), context)
                return
            }
            let most = min(request.length ?? .max, limits.bodyBytes)
            guard body.append(buffer, most: most, hold: { reservation?.hold($0) ?? false }) else {
                pass(.fault(.overloaded, request.head), context)
                return
            }
            if isInputEnded { complete(request, context) }
        default:
            break
        }
    }

    private func begin(_ fields: HPACKHeaders, _ context: ChannelHandlerContext) {
        guard connection.isOpen else {
            context.close(promise: nil)
            return
        }
        guard let reservation = connection.admit() else {
            refuse(context)
            return
        }
        self.reservation = reservation
        omitsBody = fields.first(name: ":method").isExactly("HEAD")
        let request: StreamRequest
        do throws(HTTPFault) {
            request = try StreamRequest(fields, limits: limits)
        } catch {
            pass(.fault(error, nil), context)
            return
        }
        guard reservation.hold(request.size + request.fieldCount * Reservation.Cost.field) else {
            refuse(context)
            return
        }
        guard hold(request.size) else {
            pass(.fault(.tooManyRequests, request.head), context)
            return
        }
        let isBodyIgnored = ignoresBody(request.head.method, request.head.target)
        guard request.length ?? 0 <= limits.bodyBytes || isBodyIgnored else {
            pass(.fault(.bodyTooLarge(limit: limits.bodyBytes), request.head), context)
            return
        }
        state = .body(request)
        if isInputEnded || isBodyIgnored {
            complete(request, context)
            return
        }
        startTimer(.body, context)
        if request.expectsContinue {
            context.writeAndFlush(
                wrapOutboundOut(.headers(.init(headers: HPACKHeaders(status: .continue, [])))), promise: nil)
        }
    }

    private func complete(_ request: StreamRequest, _ context: ChannelHandlerContext) {
        guard connection.mayAnswer else {
            pass(.fault(.tooManyRequests, request.head), context)
            return
        }
        pass(.request(request.head, body: body.bytes), context)
    }

    /// Tells the client that nothing was done with the request, so that it may send it again (RFC 9113, section 8.7).
    private func refuse(_ context: ChannelHandlerContext) {
        state = .leaving
        reservation = nil
        context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    }

    private func pass(_ content: HTTPInput.Content, _ context: ChannelHandlerContext) {
        state = .answer
        stopTimer()
        body = BodyBuffer()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        connection.pass(
            HTTPInput(
                content: content, omitsBody: omitsBody, endsConnection: false, announcesKeepAlive: false,
                reservation: reservation)
        ) { [eventLoop = context.eventLoop] reply in
            try await eventLoop.flatSubmit { bound.value.send(reply, on: eventLoop) }.get()
        }
    }

    // MARK: - The reply

    private func send(_ reply: HTTPReply, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        guard case .answer = state, let context else {
            release()
            connection.endAnswer()
            return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }
        connection.retain(reply.body.count)
        held += reply.body.count
        var fields = HPACKHeaders(status: reply.status, reply.headers)
        // What never has a body must not speak of one (RFC 9110, section 8.6).
        let hasBody = reply.status.mayHaveResponseBody
        if hasBody { fields.add(name: "content-length", value: String(reply.body.count), indexing: .nonIndexable) }
        let sendsBody = hasBody && !reply.omitsBody && !reply.body.isEmpty

        state = .delivery
        connection.beginDelivery()
        connection.endAnswer()
        startTimer(.delivery, context)
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
        context.flush()
        return written.futureResult
    }

    private func delivered() {
        release()
        connection.endDelivery()
        // The stream is gone as a rule: its last frame was its end.
        guard case .delivery = state, let context else { return }
        state = .leaving
        stopTimer()
        if !isInputEnded { startTimer(.leave, context) }
    }

    // MARK: - Time

    private func startTimer(_ wait: Wait, _ context: ChannelHandlerContext) {
        stopTimer()
        guard let limit = wait.limit(limits) else { return }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: TimeAmount(limit)) { bound.value.expire() }
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
    }

    private func expire() {
        guard let context else { return }
        switch state {
        case .body(let request):
            pass(.fault(.bodyTooSlow, request.head), context)
        case .leaving:
            context.writeAndFlush(wrapOutboundOut(.rstStream(.noError)), promise: nil)
        case .head, .answer, .delivery, .ended:
            context.close(promise: nil)
        }
    }
}
