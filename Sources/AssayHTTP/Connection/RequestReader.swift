internal import AssayKit
internal import NIOCore
internal import NIOHTTP1

/// Makes whole requests of what the parser hands out, within the limits on size and time, and sends whole replies.
///
/// Whatever is wrong becomes an input of its own behind the requests before it, so that replies stay in order. After
/// the reply to one that ends the connection, the sending side is closed and the rest of the input thrown away for a
/// while: closing at once would make the system reset the connection, and the client might never see the reply.
final class RequestReader: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPInput
    typealias OutboundIn = HTTPReply
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// Before the first byte of a request.
        case idle
        case head
        case body(HTTPRequestHead)
        /// Nothing more is read.
        case ended

        var isIdle: Bool {
            if case .idle = self { true } else { false }
        }
    }

    private let limits: HTTPLimits
    private let gate: InputGate
    private let slots: ConnectionSlots
    private let room: PeerRoom
    private let ignoresBody: (_ method: String, _ target: String) -> Bool

    private var state = State.idle
    /// The body so far: beside the state, so that each piece is appended in place.
    private var body = BodyBuffer()
    /// What the requests hold that are not replied to yet, and the one that is being read; nil when there are none.
    private var reservation: Reservation?
    /// The part of it that is for the one that is being read.
    private var held = 0
    /// Requests handed on and not yet replied to.
    private var unanswered = 0
    /// Replies written and not yet taken by the system.
    private var undelivered = 0
    /// The 100 (Continue) that the client waits for; sent when the replies before it are out.
    private var owesContinue = false
    /// Whether the channel wants to read, and has to wait until what was read before is dealt with.
    private var isReadHeld = false
    private var isFirst = true
    private var isQuiescing = false
    private var isInputClosed = false
    private var isLeaving = false

    private var wait: Wait?
    private var timer: WaitTimer?
    /// The place in the line of those who may have to make room, while the client is waited for.
    private var ticket: IdleQueue.Ticket?

    /// - Parameter ignoresBody: tells of which requests the body is not waited for.
    init(
        limits: HTTPLimits, gate: InputGate, slots: ConnectionSlots, room: PeerRoom,
        ignoresBody: @escaping (_ method: String, _ target: String) -> Bool = { _, _ in false }
    ) {
        self.ignoresBody = ignoresBody
        self.limits = limits
        self.gate = gate
        self.slots = slots
        self.room = room
    }

    // MARK: - The connection

    func handlerAdded(context: ChannelHandlerContext) {
        timer = WaitTimer(context.eventLoop) { [unowned self] in
            if let wait { expire(wait, context) }
        }
        if context.channel.isActive { update(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        update(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        state = .ended
        body = BodyBuffer()
        reservation = nil
        stopWaiting()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stopWaiting()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let arrived as InputGate.BytesArrived:
            if state.isIdle { state = .head }
            // The parser keeps them until the head is complete. Those of a body are taken into account as they come out.
            if case .head = state, !hold(arrived.count) { refuse(.overloaded, context) }
        case ChannelEvent.inputClosed:
            // Not passed on: replies to what was sent before are still due.
            isInputClosed = true
            update(context)
        case is ChannelShouldQuiesceEvent:
            isQuiescing = true
            update(context)
        case is ConnectionSlots.MakeRoom:
            if currentWait == .answer { slots.stay() } else { context.close(promise: nil) }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: refuse(.headersTooLarge, context)
        case is HTTPParserError, is ByteToMessageDecoderError: refuse(.malformed, context)
        default: context.fireErrorCaught(error)
        }
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (_, .ended):
            break
        case (.head(let head), _):
            state = .body(head)
            let isIgnored = head.announcesBody && ignoresBody(head.method.rawValue, head.uri)
            if let fault = fault(of: head, isBodyIgnored: isIgnored) {
                refuse(fault, context)
            } else if !hold(Reservation.Cost.message + head.headers.count * Reservation.Cost.field) {
                refuse(.overloaded, context)
            } else if isIgnored, unanswered < limits.unansweredRequests {
                // The body may never come: proxies that ask about a request announce the one that they keep to themselves.
                // Where the next request would begin is not known then.
                pass(.request(RequestHead(head), body: []), head: head, endsConnection: true, context)
            } else if head.version != .http1_0 {
                owesContinue = head.headers.members(of: "expect").contains {
                    $0.lowercasedASCII.isExactly("100-continue")
                }
            }
        case (.body(let buffer), .body(let head)):
            owesContinue = false
            guard body.count + buffer.readableBytes <= limits.bodyBytes else {
                refuse(.bodyTooLarge(limit: limits.bodyBytes), context)
                return
            }
            guard body.append(buffer, most: min(head.bodyLength ?? .max, limits.bodyBytes), hold: hold) else {
                refuse(.overloaded, context)
                return
            }
        case (.end, .body(let head)):
            // Reads are held while requests wait, but the end of the input brings whatever the system has.
            guard unanswered < limits.unansweredRequests else {
                refuse(.tooManyRequests, context)
                return
            }
            // After an upgrade or a tunnel was asked for, the parser reads no further.
            let endsConnection =
                !head.isKeepAlive || head.method.isConnect || head.headers.contains(name: "upgrade")
            pass(.request(RequestHead(head), body: body.bytes), head: head, endsConnection: endsConnection, context)
        case (.body, _), (.end, _):
            break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        update(context)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if isCaughtUp || isLeaving {
            context.read()
        } else {
            isReadHeld = true
        }
    }

    /// What forbids to read the body of a request.
    private func fault(of head: HTTPRequestHead, isBodyIgnored: Bool) -> HTTPFault? {
        if head.version != .http1_0, head.headers["host"].count != 1 { return .hostMissing }
        let codings = head.headers.members(of: "transfer-encoding")
        // HTTP/1.0 has no transfer codings: a proxy that passed one on did not see where the message ends (RFC 9112, 6.1).
        if head.version == .http1_0, !codings.isEmpty { return .malformed }
        if codings.contains(where: { !$0.isExactlyIgnoringASCIICase("chunked") }) || codings.count > 1 {
            return .transferCoding
        }
        // The parser lets one number pass, which may be too large for an Int.
        let length = head.bodyLength ?? 0
        return length > limits.bodyBytes && !isBodyIgnored ? .bodyTooLarge(limit: limits.bodyBytes) : nil
    }

    /// Takes bytes of the request into account that is being read; false when there is no room for them.
    private func hold(_ count: Int) -> Bool {
        if reservation == nil { reservation = .request(room, cost: 0) }
        guard let reservation, reservation.hold(count) else { return false }
        held += count
        return true
    }

    private func refuse(_ fault: HTTPFault, _ context: ChannelHandlerContext) {
        if case .ended = state { return }
        var head: HTTPRequestHead?
        if case .body(let known) = state { head = known }
        pass(.fault(fault, head.map(RequestHead.init)), head: head, endsConnection: true, context)
    }

    private func pass(
        _ content: HTTPInput.Content, head: HTTPRequestHead?, endsConnection: Bool, _ context: ChannelHandlerContext
    ) {
        state = endsConnection ? .ended : .idle
        body = BodyBuffer()
        gate.isShut = endsConnection
        isFirst = false
        owesContinue = false
        unanswered += 1
        let input = HTTPInput(
            content: content, omitsBody: head?.method.isHead ?? false, endsConnection: endsConnection,
            announcesKeepAlive: !endsConnection && head?.version == .http1_0, reservation: reservation)
        held = 0
        context.fireChannelRead(wrapInboundOut(input))
        update(context)
    }

    // MARK: - Replies

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let reply = unwrapOutboundIn(data)
        unanswered -= 1
        undelivered += 1

        let isLast = reply.endsConnection || isQuiescing && unanswered == 0 && state.isIdle
        if isLast {
            state = .ended
            gate.isShut = true
        }
        var headers = HTTPHeaders(reply.headers)
        // What never has a body must not speak of one (RFC 9110, section 8.6).
        let hasBody = reply.status.mayHaveResponseBody
        if hasBody { headers.add(name: "content-length", value: String(reply.body.count)) }
        if isLast {
            headers.add(name: "connection", value: "close")
        } else if reply.announcesKeepAlive {
            headers.add(name: "connection", value: "keep-alive")
        }
        let head = HTTPResponseHead(version: .http1_1, status: reply.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if hasBody, !reply.omitsBody {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: reply.body)))), promise: nil)
        }

        let written = promise ?? context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((reader: self, context: context), eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in
            let (reader, context) = bound.value
            reader.undelivered -= 1
            if isLast { reader.leave(context) } else { reader.update(context) }
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        update(context)
    }

    /// Closes the connection as one that still reads: the sending side first.
    private func leave(_ context: ChannelHandlerContext) {
        isLeaving = true
        if isInputClosed {
            context.close(promise: nil)
        } else {
            context.close(mode: .output, promise: nil)
            update(context)
        }
    }

    // MARK: - Time

    /// Closes what is done with, sends what is owed, and sets the timer to what is waited for now.
    ///
    /// The timer goes on while the same thing is waited for, however many bytes arrive meanwhile.
    private func update(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        if isCaughtUp, isInputClosed || isQuiescing && state.isIdle {
            context.close(promise: nil)
            return
        }
        if isCaughtUp {
            if state.isIdle { reservation = nil } else { reservation?.shrink(to: held) }
        }
        if owesContinue, isCaughtUp {
            owesContinue = false
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
        if isReadHeld, isCaughtUp || isLeaving {
            isReadHeld = false
            context.read()
        }

        let next = currentWait
        guard next != wait else { return }
        wait = next
        let limit = next.limit(limits)
        timer?.start(limit)
        if let ticket { slots.end(ticket) }
        ticket = limit.map { _ in slots.begin(context.channel) }
    }

    private func stopWaiting() {
        timer?.stop()
        timer = nil
        if let ticket { slots.end(ticket) }
        ticket = nil
    }

    /// Whether every request that came has its reply.
    private var isCaughtUp: Bool { unanswered == 0 && undelivered == 0 }

    private var currentWait: Wait {
        if isLeaving { return .leave }
        if undelivered > 0 { return .delivery }
        if unanswered > 0 { return .answer }
        return switch state {
        case .idle: isFirst ? .firstByte : .nextByte
        case .head: .head
        case .body: .body
        case .ended: .leave
        }
    }

    private func expire(_ wait: Wait, _ context: ChannelHandlerContext) {
        switch wait {
        case .head: refuse(.headTooSlow, context)
        case .body: refuse(.bodyTooSlow, context)
        case .answer: break
        case .firstByte, .nextByte, .delivery, .leave: context.close(promise: nil)
        }
    }
}

extension HTTPRequestHead {
    /// What the client says of the body's length.
    fileprivate var bodyLength: Int? { headers.members(of: "content-length").first.map { Int($0) ?? .max } }

    fileprivate var announcesBody: Bool {
        headers.contains(name: "transfer-encoding") || headers["content-length"].contains { !$0.isExactly("0") }
    }
}

extension RequestHead {
    fileprivate init(_ head: HTTPRequestHead) {
        self.init(method: head.method.rawValue, target: head.uri, headers: head.headers)
    }
}

extension HTTPMethod {
    // `==` of this type compares the names, as texts are compared in Swift.
    fileprivate var isHead: Bool { if case .HEAD = self { true } else { false } }
    fileprivate var isConnect: Bool { if case .CONNECT = self { true } else { false } }
}
