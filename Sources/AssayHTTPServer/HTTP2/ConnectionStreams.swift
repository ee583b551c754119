internal import AssayHTTP

/// The shared state of the streams of an HTTP/2 connection: what they hold together, whether the server or the client
/// waits, and how the connection ends.
///
/// It makes decisions only, without any I/O.
struct ConnectionStreams {
    /// What the handler does, in this order.
    struct Actions {
        /// Reports that this connection does not make room.
        var stays = false
        /// Tells the client to open no more streams, and asks for a confirmation.
        var asksToLeave = false
        /// Tells which requests have been seen: the client may send all others elsewhere.
        var goodbye: Goodbye?
        /// Drops all further input before it is parsed.
        var shutsInput = false
        var place = Place.kept
        /// Waits for this from now on, instead of for the previous event.
        var wait: Wait?
        /// Closes the connection when everything written is sent.
        var closesSoon = false
        /// Closes the connection.
        var closes = false
    }

    enum Goodbye {
        case noError
        case enhanceYourCalm
    }

    /// The place in the queue of connections that may have to make room.
    enum Place {
        case kept
        /// The end of the queue.
        case last
        case none
    }

    private enum Phase {
        case serving
        /// The client was told to open no more streams; those that it opened meanwhile are answered.
        case quiescing
        /// Nothing more is read; requests that the handler of calls already has are still answered.
        case ending
    }

    private let limits: HTTPLimits
    /// What the peer holds.
    let room: PeerBudget

    private var phase = Phase.serving
    /// Whether the client has confirmed that it opens no more streams, or its time for that is over.
    private var isAcknowledged = false
    private var openStreams = 0
    /// The highest stream that the client opened.
    private(set) var lastStream = 0
    /// Requests that are being answered, including those whose streams have closed meanwhile.
    private(set) var answering = 0
    /// Replies that were written and not yet received by the system.
    private var delivering = 0
    private var heldBytes = 0
    private var refused = 0
    private var isFirst = true
    private var isConnected = false
    private var wait: Wait?

    /// The divisor of a connection's limits while the process is short of room.
    private static let scarcity = 8

    init(limits: HTTPLimits, room: PeerBudget) {
        self.limits = limits
        self.room = room
    }

    // MARK: - The connection

    mutating func begin() -> Actions {
        isConnected = true
        return next(moves: true)
    }

    mutating func end() {
        isConnected = false
    }

    /// The client sends nothing more, or nothing more that counts.
    mutating func inputEnded() -> Actions {
        var actions = Actions()
        stopReading(&actions)
        return next(actions)
    }

    /// The server shuts down.
    mutating func quiesce() -> Actions {
        var actions = Actions()
        askToLeave(&actions)
        return next(actions)
    }

    /// The client has confirmed that it opens no more streams.
    mutating func acknowledged() -> Actions {
        isAcknowledged = true
        return next()
    }

    /// The connection must close to make room, unless it is being answered.
    mutating func makeRoom() -> Actions {
        var actions = Actions()
        if answering > 0 {
            actions.stays = true
        } else {
            if isOpen { actions.goodbye = .noError }
            actions.closes = true
        }
        return actions
    }

    /// The time for the expected event is over.
    mutating func expire() -> Actions {
        switch (phase, wait) {
        case (.serving, .firstByte), (.serving, .nextByte):
            return quiesce()
        case (.quiescing, .leave):
            return acknowledged()
        default:
            var actions = Actions()
            actions.closes = true
            return actions
        }
    }

    // MARK: - The streams

    mutating func opened(_ stream: Int) -> Actions {
        openStreams += 1
        lastStream = max(lastStream, stream)
        isFirst = false
        return next(moves: true)
    }

    mutating func closed() -> Actions {
        openStreams -= 1
        return next()
    }

    /// Whether one more request may be answered.
    ///
    /// Reset streams make room for others; their requests do not, and neither do replies that the client does not read.
    var mayAnswer: Bool { answering + delivering < limits.streams && heldBytes < limits.streamBytes }

    /// Whether requests are still taken.
    var isOpen: Bool { phase != .ending }

    /// A request was forwarded, or its error.
    mutating func passed(_ input: HTTPInput) -> Actions {
        answering += 1
        var actions = Actions()
        if case .fault(let fault, _) = input.content, fault != .overloaded, room.isBounded {
            refused += 1
            // HTTP/1.1 ends with the first error. Here the client may be one of many behind a proxy that is not named as
            // trusted, which can open a new connection before this one is given up.
            if refused == limits.streams { askToLeave(&actions) }
            if refused / 2 == limits.streams, isOpen {
                actions.goodbye = .enhanceYourCalm
                stopReading(&actions)
            }
        }
        return next(actions, moves: true)
    }

    /// A request has its answer, or nowhere to send it.
    mutating func answered() -> Actions {
        answering -= 1
        return next(moves: true)
    }

    /// A reply with this many bytes replaces its request.
    mutating func beginDelivery(bytes: Int) -> Actions {
        heldBytes += bytes
        delivering += 1
        return answered()
    }

    /// The system has received a reply, or never will.
    ///
    /// What its stream held is released.
    mutating func endDelivery(releasing bytes: Int) -> Actions {
        heldBytes -= bytes
        delivering -= 1
        // The client has received something, so the time starts again.
        if wait == .delivery { wait = nil }
        return next()
    }

    /// Reserves a place for a request that begins; nil when the process has none left, or when places are scarce and
    /// this connection has its share.
    mutating func admit() -> Reservation? {
        if room.isScarce, openStreams - answering > max(1, limits.streams / ConnectionStreams.scarcity) {
            room.countRefusal()
            return nil
        }
        return .request(room, cost: Reservation.Cost.stream)
    }

    /// Counts bytes if there is room for them.
    mutating func hold(_ count: Int) -> Bool {
        guard heldBytes + count <= limits.streamBytes else { return false }
        heldBytes += count
        return true
    }

    mutating func release(_ count: Int) {
        heldBytes -= count
    }

    // MARK: - The next step

    private mutating func askToLeave(_ actions: inout Actions) {
        guard phase == .serving else { return }
        phase = .quiescing
        actions.asksToLeave = true
    }

    /// Stops reading, and closes the connection when all requests are answered.
    private mutating func stopReading(_ actions: inout Actions) {
        guard isOpen else { return }
        phase = .ending
        actions.shutsInput = true
    }

    /// Closes what is finished, and tells what is waited for now.
    ///
    /// - Parameter moves: whether the connection moves to the end of the queue, or leaves it when a request is being
    ///   answered.
    private mutating func next(_ already: Actions = Actions(), moves: Bool = false) -> Actions {
        var actions = already
        guard isConnected else { return actions }
        if moves { actions.place = answering == 0 ? .last : .none }
        let isDone = answering == 0 && delivering == 0
        if phase == .quiescing, isAcknowledged, isDone, openStreams == 0 {
            stopReading(&actions)
            actions.goodbye = .noError
        }
        if phase == .ending, isDone { actions.closesSoon = true }
        let current = currentWait
        if current != wait {
            wait = current
            actions.wait = current
        }
        return actions
    }

    private var currentWait: Wait {
        // Each stream has its own time limit, until its last frame is sent.
        if openStreams > 0 || answering > 0 { return .answer }
        if delivering > 0 { return .delivery }
        return switch phase {
        case .quiescing, .ending: .leave
        case .serving: isFirst ? .firstByte : .nextByte
        }
    }
}
