internal import NIOCore
internal import NIOHTTP2

/// What the streams of an HTTP/2 connection have in common: what they hold together, whether the server waits for the
/// client or the client for the server, and how the connection ends.
final class StreamConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private enum Phase {
        case serving
        /// The client was told to open no more streams; those that it opened meanwhile are answered.
        case quiescing
        /// Nothing more is read; what the kernel has is still answered.
        case ending
    }

    private let limits: HTTPLimits
    private let gate: InputGate
    private let slots: ConnectionSlots
    private let room: PeerRoom
    private let exchanges: AsyncStream<HTTPExchange>.Continuation

    private var context: ChannelHandlerContext?
    private var phase = Phase.serving
    /// Whether the client has said that it knows that it is to open no more streams, or has had its time to.
    private var isAcknowledged = false
    private var openStreams = 0
    private var lastStream = HTTP2StreamID.rootStream
    /// Requests that the kernel has, also those whose streams are gone meanwhile.
    private var answering = 0
    /// Replies written and not yet taken by the system.
    private var delivering = 0
    private var heldBytes = 0
    private var refused = 0
    private var isFirst = true

    private var wait: Wait?
    private var timer: WaitTimer?
    /// The place in the line of those who may have to make room, while the client is waited for.
    private var ticket: IdleQueue.Ticket?

    init(
        limits: HTTPLimits, gate: InputGate, slots: ConnectionSlots, room: PeerRoom,
        exchanges: AsyncStream<HTTPExchange>.Continuation
    ) {
        self.limits = limits
        self.gate = gate
        self.slots = slots
        self.room = room
        self.exchanges = exchanges
    }

    // MARK: - The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        timer = WaitTimer(context.eventLoop) { [unowned self] in expire() }
        renewTicket()
        update()
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
        case is InputGate.BytesArrived:
            break
        case ChannelEvent.inputClosed:
            end()
        case is ChannelShouldQuiesceEvent:
            quiesce()
        case is ConnectionSlots.MakeRoom:
            if answering > 0 {
                slots.stay()
            } else {
                if isOpen { sayGoodbye(.noError) }
                context.close(promise: nil)
            }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .ping(StreamConnection.farewell, ack: true) = unwrapInboundIn(data).payload else { return }
        isAcknowledged = true
        update()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isOpen, error is any NIOHTTP2Error {
            // The client has been told why its frames mean nothing any more.
        } else if StreamConnection.concernsOneStream(error) {
            // The stream was reset. Nothing can be said to the client; it is counted and put on record all the same.
            let input = HTTPInput(
                content: .fault(.malformed, nil), omitsBody: false, endsConnection: false, announcesKeepAlive: false)
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            pass(input) { [eventLoop = context.eventLoop] _ in
                try await eventLoop.submit { bound.value.endAnswer() }.get()
            }
        } else if error is any NIOHTTP2Error {
            // The client has been told with a GOAWAY frame.
            end()
        } else {
            context.close(promise: nil)
        }
    }

    private func stop() {
        timer?.stop()
        timer = nil
        if let ticket { slots.end(ticket) }
        ticket = nil
        context = nil
        exchanges.finish()
    }

    // MARK: - What the streams say

    func streamOpened(_ stream: HTTP2StreamID) {
        openStreams += 1
        lastStream = max(lastStream, stream)
        isFirst = false
        renewTicket()
        update()
    }

    func streamClosed() {
        openStreams -= 1
        update()
    }

    /// Whether one more request may go to the kernel. Streams that are reset make room for others; their requests do not,
    /// and neither do replies that the client does not take.
    var mayAnswer: Bool { answering + delivering < limits.streams && heldBytes < limits.streamBytes }

    /// Whether requests are still taken.
    var isOpen: Bool { phase != .ending }

    /// Hands a request on, or what was wrong with it; `send` will be called once.
    func pass(_ input: HTTPInput, send: @escaping @Sendable (HTTPReply) async throws -> Void) {
        answering += 1
        renewTicket()
        exchanges.yield(HTTPExchange(input: input, isConcurrent: true, send: send))
        if case .fault(let fault, _) = input.content, fault != .overloaded {
            refused += 1
            // HTTP/1.1 ends with the first one. Here it may be one client of many behind a proxy, which can begin a new
            // connection before this one is given up.
            if refused == limits.streams { quiesce() }
            if refused / 2 == limits.streams { refuseMore() }
        }
        update()
    }

    func endAnswer() {
        answering -= 1
        renewTicket()
        update()
    }

    func beginDelivery() {
        delivering += 1
    }

    func endDelivery() {
        delivering -= 1
        // The client has taken something: the time begins anew.
        if wait == .delivery { wait = nil }
        update()
    }

    /// Takes a place for a request that begins; nil when there is none in the whole process, or when they are scarce and this
    /// connection has its share.
    func admit() -> Reservation? {
        if room.isScarce, openStreams - answering > max(1, limits.streams / StreamConnection.scarcity) {
            room.countRefusal()
            return nil
        }
        return .request(room, cost: Reservation.Cost.stream)
    }

    /// Takes bytes into account if there is room for them.
    func hold(_ count: Int) -> Bool {
        guard heldBytes + count <= limits.streamBytes else { return false }
        heldBytes += count
        return true
    }

    /// Takes bytes into account that are there already.
    func retain(_ count: Int) {
        heldBytes += count
    }

    func release(_ count: Int) {
        heldBytes -= count
    }

    /// The part of its limits that a connection has while the process is short of room.
    private static let scarcity = 8

    // MARK: - The end

    private static let farewellNumber: UInt64 = 0x6173_7361_7962_7965
    private static let farewell = HTTP2PingData(withInteger: farewellNumber)

    /// Tells the client to open no more streams, and asks whether it knows (RFC 9113, section 6.8).
    ///
    /// Past the protocol's state machine, which would take a request that crosses with this for a breach of the protocol,
    /// and tell the client so.
    private func quiesce() {
        guard phase == .serving else { return }
        phase = .quiescing
        var frames = ByteBuffer()
        // GOAWAY: the last stream is the highest there can be, the error none.
        frames.writeBytes([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        // PING.
        frames.writeBytes([0, 0, 8, 6, 0, 0, 0, 0, 0])
        frames.writeInteger(StreamConnection.farewellNumber)
        gate.send(frames)
        update()
    }

    private func refuseMore() {
        guard isOpen else { return }
        sayGoodbye(.enhanceYourCalm)
        end()
    }

    /// Says which requests have been seen: the client may send any others elsewhere.
    private func sayGoodbye(_ code: HTTP2ErrorCode) {
        let payload = HTTP2Frame.FramePayload.goAway(lastStreamID: lastStream, errorCode: code, opaqueData: nil)
        context?.writeAndFlush(wrapOutboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
    }

    /// Reads nothing more, and closes the connection when what the kernel has is answered.
    private func end() {
        guard isOpen else { return }
        phase = .ending
        gate.isShut = true
        update()
    }

    // MARK: - Time

    /// Closes what is done with, and sets the timer to what is waited for now.
    private func update() {
        guard let context else { return }
        let isDone = answering == 0 && delivering == 0
        if phase == .quiescing, isAcknowledged, isDone, openStreams == 0 {
            phase = .ending
            gate.isShut = true
            sayGoodbye(.noError)
        }
        if phase == .ending, isDone {
            // Not within the call that wrote what is said last, which has yet to be flushed. TLS waits a while for the
            // client to close as well, so that this is not lost to a reset.
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.eventLoop.execute { bound.value.close(promise: nil) }
        }
        let next = currentWait
        guard next != wait else { return }
        wait = next
        timer?.start(next.limit(limits))
    }

    private var currentWait: Wait {
        // Each stream has its own time, until its last frame is on its way.
        if openStreams > 0 || answering > 0 { return .answer }
        if delivering > 0 { return .delivery }
        return switch phase {
        case .quiescing, .ending: .leave
        case .serving: isFirst ? .firstByte : .nextByte
        }
    }

    private func expire() {
        switch (phase, wait) {
        case (.serving, .firstByte), (.serving, .nextByte):
            quiesce()
        case (.quiescing, .leave):
            isAcknowledged = true
            update()
        default:
            context?.close(promise: nil)
        }
    }

    /// Goes to the end of the line of those who wait for their clients, or out of it when something is being answered.
    private func renewTicket() {
        if let ticket { slots.end(ticket) }
        ticket = nil
        guard let context, answering == 0 else { return }
        ticket = slots.begin(context.channel)
    }

    // MARK: - Errors

    /// Whether an error ends one stream only: a request that is not valid, or a frame for a stream that is gone. Any other
    /// ends the connection.
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
