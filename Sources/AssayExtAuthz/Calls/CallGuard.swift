internal import AssayCore
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Forwards complete calls to gRPC's handler of a stream, within the limits of the connection and of the process.
///
/// A refused call is answered and reset at once, so that HTTP/2 drops its client's further bytes.
final class CallGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private enum Progress {
        case receiving
        /// The service has the call.
        case serving
        /// The service has begun to answer.
        case answering
        /// The service has finished its answer, or the call was refused.
        case ended
        case gone
    }

    private let connection: ConnectionGuard
    private let stream: Int
    private let time: TimeAmount
    private let count: (CallRefusal) -> Void
    private var intake: CallIntake
    private var head: HPACKHeaders = [:]
    private var progress = Progress.receiving
    private var timer: Scheduled<Void>?
    private var reservation: CallReservation?
    /// The number of the call on its way to the service.
    private var number: UInt64?
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - connection: the connection of the stream.
    ///   - stream: its number.
    ///   - count: counts a refused call.
    init(
        _ connection: ConnectionGuard, _ limits: ExtAuthzLimits, stream: Int, count: @escaping (CallRefusal) -> Void
    ) {
        self.connection = connection
        self.stream = stream
        self.count = count
        time = TimeAmount(limits.receiveTime)
        intake = CallIntake(messageBytes: limits.messageBytes)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        reservation = CallReservation(connection.room)
        connection.opened(stream, self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard case .receiving = progress else {
            // Only a reset can follow the end of a call.
            if case .rstStream = frame { context.fireChannelRead(data) }
            return
        }
        guard let reservation else {
            refuse(context, .noStreams)
            return
        }
        switch frame {
        case .headers(let fields):
            if head.isEmpty { head = fields.headers }
            perform(
                intake.receive(
                    headBytes: fields.headers.occupied, flaw: fields.headers.flaw, ends: fields.endStream,
                    reserve: reservation.reserve), context)
        case .data(let part):
            guard case .byteBuffer(let bytes) = part.data else { return }
            perform(
                intake.receive(bytes.readableBytesView, ends: part.endStream, reserve: reservation.reserve), context)
        default:
            context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most calls are complete when their first bytes were read, and need no timer.
        if case .receiving = progress { startTimer(context) }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .headers(let fields) where fields.endStream: answer(isLast: true)
        case .data(let part): answer(isLast: part.endStream)
        default: break
        }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        // The stream ends when its client receives the answer; the wait for that is limited.
        if case .ended = progress { startTimer(context) }
    }

    private func perform(_ action: CallIntake.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .wait: break
        case .refuse(let refusal): refuse(context, refusal)
        case .deliver(let bytes):
            stopTimer()
            progress = .serving
            connection.callBegan()
            var head = head
            self.head = [:]
            number = reservation.map { connection.forwarded.begin($0, &head) }
            context.fireChannelRead(wrapInboundOut(.headers(.init(headers: head))))
            context.fireChannelRead(
                wrapInboundOut(.data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)), endStream: true))))
        }
    }

    /// The client has reset the stream, and the parser does not know.
    ///
    /// The stream is ended as if its answer had crossed with the reset, which clients must expect (RFC 9113, section 5.1).
    func reset() {
        guard let context else { return }
        switch progress {
        case .receiving:
            end(context, CallRefusal.frames(code: 1, "The call was reset.") + [.rstStream(.noError)])
        case .serving:
            context.fireChannelRead(wrapInboundOut(.rstStream(.cancel)))
            end(context, CallRefusal.frames(code: 1, "The call was reset."))
        case .answering:
            context.fireChannelRead(wrapInboundOut(.rstStream(.cancel)))
            end(context, [.headers(.init(headers: ["grpc-status": "1"], endStream: true))])
        case .ended: context.close(promise: nil)
        case .gone: break
        }
    }

    /// Ends the stream with frames of its own.
    private func end(_ context: ChannelHandlerContext, _ frames: [HTTP2Frame.FramePayload]) {
        stopTimer()
        for frame in frames { context.write(wrapOutboundOut(frame), promise: nil) }
        context.flush()
        context.close(promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext, _ refusal: CallRefusal) {
        guard case .receiving = progress else { return }
        progress = .ended
        count(refusal)
        release()
        end(context, refusal.frames)
    }

    private func answer(isLast: Bool) {
        if case .serving = progress {
            progress = .answering
            connection.callAnswered()
            release()
        }
        if isLast, case .answering = progress {
            progress = .ended
            connection.callEnded()
        }
    }

    /// The stream is closed.
    private func leave() {
        stopTimer()
        head = [:]
        _ = intake.release()
        // The service may still work on the call, which counts for its connection until then.
        let isReceived = number.map { connection.forwarded.end($0) } ?? false
        reservation = nil
        connection.closed(stream, isReceived ? nil : context?.channel)
        number = nil
        context = nil
        switch progress {
        case .serving:
            connection.callAnswered()
            connection.callEnded()
        case .answering: connection.callEnded()
        case .receiving, .ended, .gone: break
        }
        progress = .gone
    }

    private func release() {
        head = [:]
        reservation?.release(intake.release())
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        guard timer == nil, context.channel.isActive else { return }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: time) {
            let (handler, context) = bound.value
            handler.expire(context)
        }
    }

    private func expire(_ context: ChannelHandlerContext) {
        timer = nil
        switch progress {
        case .receiving: perform(intake.expire(), context)
        case .ended: context.close(promise: nil)
        case .serving, .answering, .gone: break
        }
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
    }
}

extension HPACKHeaders {
    /// The size of the fields (RFC 9113, section 6.5.2).
    fileprivate var occupied: Int {
        reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }

    /// Why the fields must not reach gRPC's library; nil when they may.
    ///
    /// It compares them by Swift's rules for text, which need quadratic time for some other texts than visible ASCII, and it ends
    /// the process for a timeout that is below zero.
    fileprivate var flaw: CallRefusal? {
        let isVisible = { (byte: UInt8) in (0x20...0x7E).contains(byte) }
        var timeouts = 0
        for field in self {
            guard field.name.utf8.allSatisfy(isVisible), field.value.utf8.allSatisfy(isVisible) else {
                return .malformedHead
            }
            guard field.name.isExactlyIgnoringASCIICase("grpc-timeout") else { continue }
            timeouts += 1
            guard timeouts == 1, field.value.isTimeout else { return .malformedTimeout }
        }
        return nil
    }
}

extension String {
    /// Whether a text is a `TimeoutValue` and a `TimeoutUnit` (grpc/doc/PROTOCOL-HTTP2.md).
    fileprivate var isTimeout: Bool {
        let digits = utf8.dropLast()
        guard let unit = utf8.last, "HMSmun".utf8.contains(unit) else { return false }
        return (1...8).contains(digits.count)
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
