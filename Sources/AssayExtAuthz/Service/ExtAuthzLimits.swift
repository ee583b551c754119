/// Bounds on what one client of the transport, and all of them together, can make it hold or wait for.
public struct ExtAuthzLimits: Sendable, Hashable {
    /// The largest message, in bytes.
    ///
    /// It has a request's headers up to three times, and its body where Envoy is told to send it (`with_request_body`).
    /// A larger one fails as a call, and Envoy decides what becomes of the request (`failure_mode_allow`).
    public var messageBytes = 262_144
    /// The most header fields of a request; one with more is refused.
    public var headerFields = 256
    /// The most calls that a connection may have open at once.
    public var streams = 100
    /// The most bytes that the calls of a connection may hold until they are answered; a call beyond them is refused.
    public var connectionBytes = 2_097_152
    /// The most connections at once.
    ///
    /// For one more, one goes that waits for its client: of the peer that has the most, the one that has waited
    /// longest. Envoy has one for each of its worker threads.
    public var maximumConnections = 256
    /// The most connections of one peer address, or of one network of IPv6 (/64); Unix sockets have none.
    public var connectionsPerPeer = 64
    /// How long a connection may take to say its first word, the TLS handshake included.
    public var openingTime: Duration = .seconds(10)
    /// How long a call's message may take to arrive, and its answer to be taken.
    public var receiveTime: Duration = .seconds(10)
    /// How long a connection is kept on which no whole call has come.
    ///
    /// Other frames, PING among them, do not prolong it.
    public var idleTime: Duration = .seconds(300)
    /// How long any connection is kept.
    public var connectionAge: Duration = .seconds(3600)
    /// How long a client that was asked to go may take to do so.
    public var leaveTime: Duration = .seconds(10)
    /// After how long a silence a connection is asked for a sign of life; three times that without one, and it is closed.
    public var pingTime: Duration = .seconds(30)
    /// The most calls of `Watch` of the health service at once.
    public var watches = 64
    /// How often those look whether anything has changed.
    public var watchInterval: Duration = .seconds(1)
    /// How long calls may go on after a graceful shutdown has begun.
    public var drainTime: Duration = .seconds(20)
    /// How many connections wait in the system's backlog before it refuses more.
    public var backlog = 256

    /// The limits that hold unless they are changed.
    public init() {}
}
