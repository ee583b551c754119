internal import AssayCore
internal import AssayHTTP

/// Decides how requests of HTTP/1.x are read from one connection, and when their replies are sent, without any I/O.
///
/// The connection's handler reports each event, and does what each answer says. Every error becomes an input of its own
/// after the requests before it, so that replies stay in order. After the reply to a request that ends the connection,
/// the sending side is closed, and further input is dropped for a while: an immediate close would make the system reset
/// the connection, and the client might never see the reply.
struct RequestReading {
    /// What the handler does, in this order.
    struct Actions {
        /// Drops all further input before it is parsed.
        var shutsInput = false
        /// Forwards this to be answered.
        var input: HTTPInput?
        /// Reports that this connection does not make room.
        var stays = false
        /// Sends a 100 (Continue).
        var sendsContinue = false
        /// Waits for this from now on, instead of for the previous event.
        var wait: Wait?
        /// Continues the read that was delayed.
        var reads = false
        /// Closes the sending side.
        var closesOutput = false
        /// Closes the connection.
        var closes = false
    }

    private enum State {
        /// Before the first byte of a request.
        case idle
        case head
        case body(RequestStart)
        /// Nothing more is read.
        case ended
    }

    private let limits: HTTPLimits
    private let room: PeerBudget
    private let routeHead: (inout GatewayRequest) -> Bool

    private var state = State.idle
    /// The body so far: kept outside the state, so that each piece is appended in place.
    private var body = BodyBuffer()
    /// What the unanswered requests hold, and the one that is being read; nil when there are none.
    private var reservation: Reservation?
    /// The part of it for the request that is being read.
    private var held = 0
    /// Requests that were forwarded and not yet answered.
    private var unanswered = 0
    /// Replies that were written and not yet received by the system.
    private var undelivered = 0
    /// The 100 (Continue) that the client waits for; sent after the replies before it.
    private var owesContinue = false
    /// Whether the channel wants to read, and must wait until earlier requests are answered.
    private var isReadHeld = false
    private var isFirst = true
    private var isQuiescing = false
    private var isInputClosed = false
    private var isLeaving = false
    private var isOpen = false
    private var wait: Wait?

    /// - Parameter routeHead: looks up a request, and tells whether its body is not waited for.
    init(
        limits: HTTPLimits, room: PeerBudget,
        routeHead: @escaping (inout GatewayRequest) -> Bool = { _ in false }
    ) {
        self.limits = limits
        self.room = room
        self.routeHead = routeHead
    }

    // MARK: - The connection

    /// The connection is open.
    mutating func begin() -> Actions {
        isOpen = true
        return next()
    }

    /// The connection is closed.
    mutating func end() {
        isOpen = false
        state = .ended
        body = BodyBuffer()
        reservation = nil
    }

    /// The client sends nothing more.
    ///
    /// Replies to what it sent before are still due.
    mutating func inputClosed() -> Actions {
        isInputClosed = true
        return next()
    }

    /// The server shuts down.
    mutating func quiesce() -> Actions {
        isQuiescing = true
        return next()
    }

    /// The connection must close to make room, unless it is being answered.
    mutating func makeRoom() -> Actions {
        var actions = Actions()
        if currentWait == .answer { actions.stays = true } else { actions.closes = true }
        return actions
    }

    /// The time for the expected event is over.
    mutating func expire() -> Actions {
        switch wait {
        case .head: return refuse(.headTooSlow)
        case .body: return refuse(.bodyTooSlow)
        case .answer, nil: return Actions()
        case .firstByte, .nextByte, .delivery, .leave:
            var actions = Actions()
            actions.closes = true
            return actions
        }
    }

    // MARK: - Requests

    /// Bytes arrived that the parser has not seen yet.
    ///
    /// The parser keeps the bytes of a head until it is complete; the bytes of a body are counted as they come out.
    mutating func received(bytes count: Int) -> Actions {
        if case .idle = state { state = .head }
        if case .head = state, !hold(count) { return refuse(.overloaded) }
        return Actions()
    }

    /// A head is complete.
    mutating func received(_ start: RequestStart) -> Actions {
        if case .ended = state { return Actions() }
        var start = start
        let isIgnored = routeHead(&start.request) && start.announcesBody
        state = .body(start)
        let request = start.request
        if let fault = fault(of: start, isBodyIgnored: isIgnored) { return refuse(fault) }
        guard hold(Reservation.Cost.message + request.headers.count * Reservation.Cost.field) else {
            return refuse(.overloaded)
        }
        if isIgnored, unanswered < limits.unansweredRequests {
            // The body may never come: proxies that ask about a request announce a body that they keep. It is then
            // unknown where the next request begins.
            return pass(.request(request), start, endsConnection: true)
        }
        if !start.isHTTP10 {
            owesContinue = request.headers.members(of: "expect").contains {
                $0.isExactlyIgnoringASCIICase("100-continue")
            }
        }
        return Actions()
    }

    /// A piece of a body arrived.
    mutating func received(body piece: some Collection<UInt8>) -> Actions {
        guard case .body(let start) = state else { return Actions() }
        owesContinue = false
        guard body.count + piece.count <= limits.bodyBytes else {
            return refuse(.bodyTooLarge(limit: limits.bodyBytes))
        }
        let growth = body.growth(for: piece.count, most: min(start.bodyLength ?? .max, limits.bodyBytes))
        guard growth == 0 || hold(growth) else { return refuse(.overloaded) }
        body.append(piece, growth: growth)
        return body.isTooFragmented ? refuse(.bodyTooFragmented) : Actions()
    }

    /// A request is complete.
    mutating func receivedEnd() -> Actions {
        guard case .body(let start) = state else { return Actions() }
        // Reads are delayed while requests wait, but the end of the input delivers everything that the system has.
        guard unanswered < limits.unansweredRequests else { return refuse(.tooManyRequests) }
        var request = start.request
        request.body = body.bytes
        return pass(.request(request), start, endsConnection: start.endsConnection)
    }

    /// The bytes are not a request.
    mutating func failed(_ fault: HTTPFault) -> Actions {
        refuse(fault)
    }

    /// The channel wants to read.
    ///
    /// Returns whether it may now.
    mutating func wantsRead() -> Bool {
        if isCaughtUp || isLeaving { return true }
        isReadHeld = true
        return false
    }

    /// The reason why the body of a request must not be read.
    private func fault(of start: RequestStart, isBodyIgnored: Bool) -> HTTPFault? {
        let headers = start.request.headers
        if !start.isHTTP10, headers["host"].count != 1 { return .hostMissing }
        let codings = headers.members(of: "transfer-encoding")
        // HTTP/1.0 has no transfer codings: a proxy that forwarded one did not see where the message ends (RFC 9112,
        // 6.1).
        if start.isHTTP10, !codings.isEmpty { return .malformed }
        if codings.contains(where: { !$0.isExactlyIgnoringASCIICase("chunked") }) || codings.count > 1 {
            return .transferCoding
        }
        // The parser accepts one number, which may be too large for an Int.
        let length = start.bodyLength ?? 0
        return length > limits.bodyBytes && !isBodyIgnored ? .bodyTooLarge(limit: limits.bodyBytes) : nil
    }

    /// Counts bytes of the request that is being read; false when there is no room for them.
    private mutating func hold(_ count: Int) -> Bool {
        if reservation == nil { reservation = .request(room, cost: 0) }
        guard let reservation, reservation.hold(count) else { return false }
        held += count
        return true
    }

    private mutating func refuse(_ fault: HTTPFault) -> Actions {
        switch state {
        case .ended: return Actions()
        case .body(let start): return pass(.fault(fault, start.request), start, endsConnection: true)
        case .idle, .head: return pass(.fault(fault, nil), nil, endsConnection: true)
        }
    }

    private mutating func pass(
        _ content: HTTPInput.Content, _ start: RequestStart?, endsConnection: Bool
    ) -> Actions {
        state = endsConnection ? .ended : .idle
        body = BodyBuffer()
        isFirst = false
        owesContinue = false
        unanswered += 1
        let input = HTTPInput(
            content: content, omitsBody: start?.isHead ?? false, endsConnection: endsConnection,
            announcesKeepAlive: !endsConnection && start?.isHTTP10 ?? false, reservation: reservation)
        held = 0
        var actions = next()
        actions.input = input
        actions.shutsInput = endsConnection
        return actions
    }

    // MARK: - Replies

    /// A reply is written.
    ///
    /// Returns whether it is the connection's last reply, after which no more input is accepted.
    mutating func replied(endsConnection: Bool) -> Bool {
        unanswered -= 1
        undelivered += 1
        let isLast = endsConnection || isQuiescing && unanswered == 0 && isIdle
        if isLast { state = .ended }
        return isLast
    }

    /// The system has received a reply, or never will.
    mutating func delivered(isLast: Bool) -> Actions {
        undelivered -= 1
        guard isLast else { return next() }
        isLeaving = true
        guard isInputClosed else {
            // Like a connection that is still read: the sending side first.
            var actions = next()
            actions.closesOutput = true
            return actions
        }
        var actions = Actions()
        actions.closes = true
        return actions
    }

    // MARK: - The next step

    /// Closes what is finished, sends what is due, and tells what is waited for now.
    ///
    /// The time continues while the same event is waited for, however many bytes arrive meanwhile.
    mutating func next() -> Actions {
        var actions = Actions()
        guard isOpen else { return actions }
        if isCaughtUp, isInputClosed || isQuiescing && isIdle {
            actions.closes = true
            return actions
        }
        if isCaughtUp {
            if isIdle { reservation = nil } else { reservation?.shrink(to: held) }
        }
        if owesContinue, isCaughtUp {
            owesContinue = false
            actions.sendsContinue = true
        }
        if isReadHeld, isCaughtUp || isLeaving {
            isReadHeld = false
            actions.reads = true
        }
        let current = currentWait
        if current != wait {
            wait = current
            actions.wait = current
        }
        return actions
    }

    private var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether the system has not received all replies yet.
    var hasUnread: Bool { undelivered > 0 }

    /// What the requests hold of the budget.
    var bytes: Int { reservation?.bytes ?? 0 }

    /// Whether there is one request only that was forwarded and not yet answered.
    var isWithoutOthers: Bool { unanswered == 1 }

    /// Whether every request has its reply.
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
}

/// The parts of an HTTP/1.x request's head that decide how the rest is read.
struct RequestStart: Sendable {
    /// The request, without its body.
    var request: GatewayRequest
    /// Whether it is one of HTTP/1.0.
    let isHTTP10: Bool
    /// Whether the client keeps the connection.
    let isKeepAlive: Bool

    /// The length of the body according to the client.
    var bodyLength: Int? { request.headers.members(of: "content-length").first.map { Int($0) ?? .max } }

    var announcesBody: Bool {
        request.headers.contains("transfer-encoding")
            || request.headers["content-length"].contains { !$0.isExactly("0") }
    }

    var isHead: Bool { request.method.isExactly("HEAD") }

    /// Whether its reply is the connection's last.
    ///
    /// After a request for an upgrade or a tunnel, the parser reads no further.
    var endsConnection: Bool {
        !isKeepAlive || request.method.isExactly("CONNECT") || request.headers.contains("upgrade")
    }
}

/// The body of a request as it arrives.
///
/// It holds room before it accepts bytes, also the room that is not filled yet.
struct BodyBuffer {
    private(set) var bytes: [UInt8] = []
    /// Kept separately from the array's capacity, which may be rounded up.
    private var capacity = 0
    private var pieces = 0

    /// Whether it comes in thousands of pieces with hardly any bytes, each of which costs as much as a large one.
    var isTooFragmented: Bool { pieces > 1024 + bytes.count / 16 }

    var count: Int { bytes.count }

    /// How many more bytes of room it needs for a piece.
    ///
    /// - Parameter most: the most bytes of the body: it never gets more room than this.
    func growth(for count: Int, most: Int) -> Int {
        let needed = bytes.count + count
        return needed > capacity ? max(needed, min(2 * capacity, most)) - capacity : 0
    }

    /// Adds a piece, with the room that was held for it.
    mutating func append(_ piece: some Collection<UInt8>, growth: Int) {
        if growth > 0 {
            capacity += growth
            bytes.reserveCapacity(capacity)
        }
        bytes.append(contentsOf: piece)
        pieces += 1
    }
}
