internal import AssayHTTP
internal import AssayTransport

/// What the streams of an HTTP/2 connection have in common: what they hold together, whether the server waits for the
/// client or the client for the server, and how the connection ends.
///
/// All decisions, and no I/O.
struct ConnectionStreams {
    /// What the handler does, in this order.
    struct Actions {
        /// Says to those who make room that this connection stays.
        var stays = false
        /// Tells the client to open no more streams, and asks whether it knows.
        var asksToLeave = false
        /// Says which requests have been seen: the client may send any others elsewhere.
        var goodbye: Goodbye?
        /// Drops all further input before it is parsed.
        var shutsInput = false
        var place = Place.kept
        /// Waits for this from now on, in place of what it waited for.
        var wait: Wait?
        /// Closes the connection when what was written is on its way.
        var closesSoon = false
        /// Closes the connection.
        var closes = false
    }

    enum Goodbye {
        case noError
        case enhanceYourCalm
    }

    /// The place in the queue of those who may have to make room.
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
        /// Nothing more is read; what the handler of calls has is still answered.
        case ending
    }

    private let limits: HTTPLimits
    private let room: PeerRoom

    private var phase = Phase.serving
    /// Whether the client has said that it knows that it is to open no more streams, or has had its time to.
    private var isAcknowledged = false
    private var openStreams = 0
    /// The highest stream that the client opened.
    private(set) var lastStream = 0
    /// Requests that are being answered, also those whose streams are gone meanwhile.
    private var answering = 0
    /// Replies written and not yet taken by the system.
    private var delivering = 0
    private var heldBytes = 0
    private var refused = 0
    private var isFirst = true
    private var isConnected = false
    private var wait: Wait?

    /// The part of its limits that a connection has while the process is short of room.
    private static let scarcity = 8

    init(limits: HTTPLimits, room: PeerRoom) {
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

    /// The client sends nothing more, or nothing that means anything.
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

    /// The client knows that it is to open no more streams.
    mutating func acknowledged() -> Actions {
        isAcknowledged = true
        return next()
    }

    /// The connection is to close for another one, unless it is being answered.
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

    /// The time for what was waited for is over.
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
    /// Streams that are reset make room for others; their requests do not, and neither do replies that the client does
    /// not take.
    var mayAnswer: Bool { answering + delivering < limits.streams && heldBytes < limits.streamBytes }

    /// Whether requests are still taken.
    var isOpen: Bool { phase != .ending }

    /// A request is passed on, or what was wrong with it.
    mutating func passed(_ input: HTTPInput) -> Actions {
        answering += 1
        var actions = Actions()
        if case .fault(let fault, _) = input.content, fault != .overloaded {
            refused += 1
            // HTTP/1.1 ends with the first one. Here it may be one client of many behind a proxy, which can begin a new
            // connection before this one is given up.
            if refused == limits.streams { askToLeave(&actions) }
            if refused / 2 == limits.streams, isOpen {
                actions.goodbye = .enhanceYourCalm
                stopReading(&actions)
            }
        }
        return next(actions, moves: true)
    }

    /// A request has its answer, or nobody to give it to.
    mutating func answered() -> Actions {
        answering -= 1
        return next(moves: true)
    }

    /// A reply with a body of so many bytes takes the place of its request.
    mutating func beginDelivery(bytes: Int) -> Actions {
        heldBytes += bytes
        delivering += 1
        return answered()
    }

    /// The system has taken a reply, or never will.
    ///
    /// What its stream held is free.
    mutating func endDelivery(releasing bytes: Int) -> Actions {
        heldBytes -= bytes
        delivering -= 1
        // The client has taken something: the time begins anew.
        if wait == .delivery { wait = nil }
        return next()
    }

    /// Takes a place for a request that begins; nil when there is none in the whole process, or when they are scarce and this
    /// connection has its share.
    mutating func admit() -> Reservation? {
        if room.isScarce, openStreams - answering > max(1, limits.streams / ConnectionStreams.scarcity) {
            room.countRefusal()
            return nil
        }
        return .request(room, cost: Reservation.Cost.stream)
    }

    /// Takes bytes into account if there is room for them.
    mutating func hold(_ count: Int) -> Bool {
        guard heldBytes + count <= limits.streamBytes else { return false }
        heldBytes += count
        return true
    }

    mutating func release(_ count: Int) {
        heldBytes -= count
    }

    // MARK: - What comes next

    private mutating func askToLeave(_ actions: inout Actions) {
        guard phase == .serving else { return }
        phase = .quiescing
        actions.asksToLeave = true
    }

    /// Reads nothing more, and closes the connection when what is being answered is answered.
    private mutating func stopReading(_ actions: inout Actions) {
        guard isOpen else { return }
        phase = .ending
        actions.shutsInput = true
    }

    /// Closes what is done with, and says what is waited for now.
    ///
    /// - Parameter moves: whether the connection goes to the end of the queue of those who wait for their clients, or out of it
    ///   when something is being answered.
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
        // Each stream has its own time, until its last frame is on its way.
        if openStreams > 0 || answering > 0 { return .answer }
        if delivering > 0 { return .delivery }
        return switch phase {
        case .quiescing, .ending: .leave
        case .serving: isFirst ? .firstByte : .nextByte
        }
    }
}
