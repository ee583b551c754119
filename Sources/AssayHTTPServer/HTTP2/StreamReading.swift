internal import AssayHTTP

/// Decides how one request is read from a stream of HTTP/2, and when its reply is sent, without any I/O.
///
/// A reply that comes before the end of its request is sent completely; what the client still sends is dropped for a
/// while, and then the stream is reset with NO_ERROR (RFC 9113, section 8.1).
struct StreamReading {
    /// What the handler does, in this order.
    struct Actions {
        var timer = TimerChange.kept
        /// Forwards this to be answered.
        var content: HTTPInput.Content?
        /// Sends a 100 (Continue).
        var sendsContinue = false
        /// Resets the stream.
        var reset: Reset?
        /// Closes the stream.
        var closes = false
    }

    enum TimerChange: Equatable {
        case kept
        case stopped
        case started(Wait)
    }

    enum Reset {
        /// The request was not processed, so the client may send it again (RFC 9113, section 8.7).
        case refused
        case noError
        /// The client has too many replies that it does not read.
        case unread
    }

    private enum State {
        case head
        case body(StreamRequest)
        case answer
        case delivery
        /// The reply is sent, and the client still sends.
        case leaving
        case ended
    }

    private let limits: HTTPLimits
    private let routeHead: (inout GatewayRequest) -> Bool
    private var state = State.head
    private var body = BodyBuffer()
    /// What this stream holds of the process's budget, until it is closed.
    private(set) var reservation: Reservation?
    private(set) var omitsBody = false
    private var isInputEnded = false
    /// What this stream holds of the connection's bytes.
    private var held = 0

    /// - Parameter routeHead: looks up a request, and tells whether its body is not waited for.
    init(limits: HTTPLimits, routeHead: @escaping (inout GatewayRequest) -> Bool = { _ in false }) {
        self.limits = limits
        self.routeHead = routeHead
    }

    // MARK: - The request

    /// A block of header fields arrived: the request's head, or trailers, which only mean the end.
    ///
    /// - Parameter head: reads the fields.
    mutating func received(
        isHead: Bool, ends: Bool, in streams: inout ConnectionStreams,
        _ head: () throws(HTTPFault) -> StreamRequest
    ) -> Actions {
        isInputEnded = ends
        switch state {
        case .head:
            return begin(isHead: isHead, &streams, head)
        case .body(let request):
            return ends ? complete(request, streams) : Actions()
        case .answer, .delivery, .leaving, .ended:
            return Actions()
        }
    }

    /// A piece of the body arrived.
    mutating func received(
        body piece: some Collection<UInt8>, ends: Bool, in streams: inout ConnectionStreams
    ) -> Actions {
        isInputEnded = ends
        guard case .body(let request) = state else { return Actions() }
        guard body.count + piece.count <= limits.bodyBytes else {
            return pass(.fault(.bodyTooLarge(limit: limits.bodyBytes), request.head))
        }
        guard hold(piece.count, &streams) else { return pass(.fault(.tooManyRequests, request.head)) }
        let growth = body.growth(for: piece.count, most: min(request.length ?? .max, limits.bodyBytes))
        guard growth == 0 || reservation?.hold(growth) ?? false else {
            return pass(.fault(.overloaded, request.head))
        }
        body.append(piece, growth: growth)
        guard !body.isTooFragmented else { return pass(.fault(.bodyTooFragmented, request.head)) }
        return ends ? complete(request, streams) : Actions()
    }

    private mutating func begin(
        isHead: Bool, _ streams: inout ConnectionStreams, _ head: () throws(HTTPFault) -> StreamRequest
    ) -> Actions {
        var actions = Actions()
        guard streams.isOpen else {
            actions.closes = true
            return actions
        }
        guard let reservation = streams.admit() else { return refuse() }
        self.reservation = reservation
        omitsBody = isHead
        var request: StreamRequest
        do throws(HTTPFault) {
            request = try head()
        } catch {
            return pass(.fault(error, nil))
        }
        guard reservation.hold(request.size + request.fieldCount * Reservation.Cost.field) else {
            return refuse()
        }
        guard hold(request.size, &streams) else { return pass(.fault(.tooManyRequests, request.head)) }
        let isBodyIgnored = routeHead(&request.head)
        guard request.length ?? 0 <= limits.bodyBytes || isBodyIgnored else {
            return pass(.fault(.bodyTooLarge(limit: limits.bodyBytes), request.head))
        }
        state = .body(request)
        if isInputEnded || isBodyIgnored { return complete(request, streams) }
        actions.timer = .started(.body)
        actions.sendsContinue = request.expectsContinue
        return actions
    }

    private mutating func complete(_ request: StreamRequest, _ streams: ConnectionStreams) -> Actions {
        guard streams.mayAnswer else { return pass(.fault(.tooManyRequests, request.head)) }
        var whole = request.head
        whole.body = body.bytes
        return pass(.request(whole))
    }

    private mutating func refuse() -> Actions {
        state = .leaving
        reservation = nil
        var actions = Actions()
        actions.reset = .refused
        return actions
    }

    private mutating func pass(_ content: HTTPInput.Content) -> Actions {
        state = .answer
        body = BodyBuffer()
        var actions = Actions()
        actions.timer = .stopped
        actions.content = content
        return actions
    }

    private mutating func hold(_ count: Int, _ streams: inout ConnectionStreams) -> Bool {
        guard streams.hold(count) else { return false }
        held += count
        return true
    }

    // MARK: - The reply

    /// A reply is ready.
    ///
    /// Returns whether it is to be sent: not when the stream is closed.
    mutating func replied(bytes: Int, in streams: inout ConnectionStreams) -> (sends: Bool, ConnectionStreams.Actions) {
        guard case .answer = state else {
            streams.release(held)
            held = 0
            return (false, streams.answered())
        }
        held += bytes
        state = .delivery
        return (true, streams.beginDelivery(bytes: bytes))
    }

    /// The system has received the reply, or never will.
    mutating func delivered(in streams: inout ConnectionStreams) -> (Actions, ConnectionStreams.Actions) {
        let connection = streams.endDelivery(releasing: held)
        held = 0
        var actions = Actions()
        // The stream is usually closed by now: its last frame was its end.
        guard case .delivery = state else { return (actions, connection) }
        state = .leaving
        actions.timer = isInputEnded ? .stopped : .started(.leave)
        return (actions, connection)
    }

    // MARK: - The end

    /// The client does not read its reply, and others need the room.
    mutating func abandon() -> Actions {
        var actions = Actions()
        guard case .delivery = state else { return actions }
        actions.timer = .stopped
        actions.reset = .unread
        return actions
    }

    /// The time for the expected event is over.
    mutating func expire() -> Actions {
        var actions = Actions()
        switch state {
        case .body(let request): return pass(.fault(.bodyTooSlow, request.head))
        case .leaving: actions.reset = .noError
        case .head, .answer, .delivery, .ended: actions.closes = true
        }
        return actions
    }

    /// The stream is closed.
    ///
    /// Nil when it was closed before.
    mutating func end(in streams: inout ConnectionStreams) -> ConnectionStreams.Actions? {
        switch state {
        case .ended:
            return nil
        case .head, .body:
            streams.release(held)
            held = 0
        // Requests and replies keep what they hold until they are answered or delivered.
        case .answer, .delivery, .leaving: break
        }
        state = .ended
        body = BodyBuffer()
        reservation = nil
        return streams.closed()
    }
}
