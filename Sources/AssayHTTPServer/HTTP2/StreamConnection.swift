internal import AssayHTTP
internal import NIOCore
internal import NIOHTTP2

/// The handler of an HTTP/2 connection, next to the handlers of its streams: does what ``ConnectionStreams`` decides.
final class StreamConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private let limits: HTTPLimits
    private let gate: InputGate
    private let admission: ConnectionAdmission
    private let metrics: ConnectionMetrics
    private let exchanges: AsyncStream<HTTPExchange>.Continuation

    /// The decisions; streams use it for theirs.
    var streams: ConnectionStreams
    private var context: ChannelHandlerContext?
    private var timer: WaitTimer?
    /// The place in the queue of connections that may have to make room, while the server waits for the client.
    private var ticket: IdleQueue.Ticket?

    init(
        limits: HTTPLimits, gate: InputGate, admission: ConnectionAdmission, metrics: ConnectionMetrics,
        exchanges: AsyncStream<HTTPExchange>.Continuation, streams: ConnectionStreams
    ) {
        self.limits = limits
        self.gate = gate
        self.admission = admission
        self.metrics = metrics
        self.exchanges = exchanges
        self.streams = streams
    }

    // MARK: - The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        timer = WaitTimer(context.eventLoop) { [unowned self] in perform(streams.expire()) }
        perform(streams.begin())
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is InputGate.BytesArrived: break
        case ChannelEvent.inputClosed: perform(streams.inputEnded())
        case is ChannelShouldQuiesceEvent: perform(streams.quiesce())
        case is ConnectionAdmission.MakeRoom: perform(streams.makeRoom())
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .ping(Farewell.ping, ack: true) = unwrapInboundIn(data).payload else { return }
        perform(streams.acknowledged())
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !streams.isOpen, error is any NIOHTTP2Error {
            // The client has been told why its frames no longer count.
        } else if StreamConnection.concernsOneStream(error) {
            // The stream was reset. The client cannot be told; the error is counted and logged anyway.
            let input = HTTPInput(
                content: .fault(.malformed, nil), omitsBody: false, endsConnection: false, announcesKeepAlive: false)
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            pass(input) { [eventLoop = context.eventLoop] _ in
                try await eventLoop.submit {
                    let connection = bound.value
                    connection.perform(connection.streams.answered())
                }.get()
            }
        } else if error is any NIOHTTP2Error {
            // The client has been told with a GOAWAY frame.
            perform(streams.inputEnded())
        } else {
            context.close(promise: nil)
        }
    }

    private func stop() {
        streams.end()
        timer?.stop()
        timer = nil
        if let ticket { admission.end(ticket) }
        ticket = nil
        context = nil
        exchanges.finish()
    }

    /// Forwards a request, or its error; `send` will be called once.
    func pass(_ input: HTTPInput, send: @escaping @Sendable (ServerReply) async throws -> Void) {
        exchanges.yield(HTTPExchange(input: input, isConcurrent: true, isAlone: streams.answering == 0, send: send))
        perform(streams.passed(input))
    }

    /// A reply is given up because its client does not read it.
    func gaveUpReply() {
        metrics.gaveUpReply()
        // What the system does not accept stays in memory, also when its stream is reset.
        guard let channel = context?.channel, !channel.isWritable else { return }
        channel.close(promise: nil)
    }

    // MARK: - Carrying out decisions

    func perform(_ actions: ConnectionStreams.Actions) {
        if actions.stays { admission.stay() }
        if actions.asksToLeave { askToLeave() }
        switch actions.goodbye {
        case .noError: sayGoodbye(.noError)
        case .enhanceYourCalm: sayGoodbye(.enhanceYourCalm)
        case nil: break
        }
        if actions.shutsInput { gate.isShut = true }
        if actions.place != .kept {
            if let ticket { admission.end(ticket) }
            ticket = actions.place == .last ? context.map { admission.begin($0.channel) } : nil
        }
        if let wait = actions.wait { timer?.start(wait.limit(limits)) }
        guard let context else { return }
        if actions.closesSoon {
            // Not within the call that wrote the last bytes, which must still be flushed. TLS waits a while for the
            // client to close as well, so that a reset does not lose them.
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.eventLoop.execute { bound.value.close(promise: nil) }
        }
        if actions.closes { context.close(promise: nil) }
    }

    /// The client answers the PING when it has read the GOAWAY before it.
    private func askToLeave() {
        gate.send(Farewell.goAway)
        let frame = HTTP2Frame(streamID: .rootStream, payload: .ping(Farewell.ping, ack: false))
        context?.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    private func sayGoodbye(_ code: HTTP2ErrorCode) {
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: HTTP2StreamID(streams.lastStream), errorCode: code, opaqueData: nil)
        context?.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
    }

    /// Whether an error ends one stream only: an invalid request, or a frame for a closed stream.
    ///
    /// Any other error ends the connection.
    private static func concernsOneStream(_ error: any Error) -> Bool {
        switch error {
        case is NIOHTTP2Errors.StreamError,
            is NIOHTTP2Errors.ContentLengthViolated, is NIOHTTP2Errors.ContentLengthHeadersMismatch,
            is NIOHTTP2Errors.ContentLengthHeaderNegative, is NIOHTTP2Errors.ContentLengthHeaderMalformedValue,
            is NIOHTTP2Errors.MissingPseudoHeader, is NIOHTTP2Errors.DuplicatePseudoHeader,
            is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader, is NIOHTTP2Errors.UnknownPseudoHeader,
            is NIOHTTP2Errors.UnsupportedPseudoHeader, is NIOHTTP2Errors.InvalidPseudoHeaders,
            is NIOHTTP2Errors.InvalidPseudoHeaderValue, is NIOHTTP2Errors.EmptyPathHeader,
            is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName, is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue,
            is NIOHTTP2Errors.ForbiddenHeaderField, is NIOHTTP2Errors.TrailersWithoutEndStream:
            true
        default:
            false
        }
    }
}

/// The frames that ask a client to open no more streams (RFC 9113, section 6.8).
///
/// The GOAWAY is the only frame that is encoded by hand. It goes past the library's handler, because its state machine would
/// take a request that crosses with this GOAWAY for a breach of the protocol, and tell the client so; and the library's
/// encoder is not public.
private enum Farewell {
    /// What the client repeats when it has read the GOAWAY.
    static let ping = HTTP2PingData(withInteger: 0x6173_7361_7962_7965)

    /// The last stream is the highest there can be, the error none.
    static var goAway: ByteBuffer {
        ByteBuffer(bytes: [0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
    }
}
