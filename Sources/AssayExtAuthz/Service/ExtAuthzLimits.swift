/// Bounds on what one client of the transport, and all of them together, can make it hold or wait for.
public struct ExtAuthzLimits: Sendable, Hashable {
    /// The largest message, in bytes.
    ///
    /// It has a request's headers up to three times, and its body if Envoy is configured to send it
    /// (`with_request_body`). A larger message fails as a call, and Envoy decides about the request
    /// (`failure_mode_allow`).
    public var messageBytes = 262_144
    /// The most header fields of a request; one with more is refused.
    public var headerFields = 256
    /// The most calls that a connection may have open at once.
    ///
    /// Ten times as many may be worked on, with those that were reset meanwhile: behind a proxy, clients that leave reset
    /// their calls. Resets themselves are not limited.
    public var streams = 100
    /// The most bytes that the calls of a connection may hold until they are answered; a further call is refused.
    public var connectionBytes = 2_097_152
    /// The most connections at once.
    ///
    /// When the limit is reached, a connection that waits for its client is closed: of the peer that has the most, the
    /// one that has waited longest. Envoy has one connection for each of its worker threads.
    public var maximumConnections = 256
    /// The most connections of one peer address, or of one IPv6 network (/64); Unix sockets have no such limit.
    public var connectionsPerPeer = 64
    /// How long a connection may take to send its first bytes, the TLS handshake included.
    public var openingTime: Duration = .seconds(10)
    /// How long a call's message may take to arrive, and its answer to be received.
    public var receiveTime: Duration = .seconds(10)
    /// How long a connection is kept without a complete call.
    ///
    /// Other frames, PING among them, do not prolong it.
    public var idleTime: Duration = .seconds(300)
    /// How long any connection is kept.
    public var connectionAge: Duration = .seconds(3600)
    /// How long a client may take to leave after it was asked to.
    public var leaveTime: Duration = .seconds(10)
    /// After how long a silence a connection is checked with a PING; it is closed when it has not answered for three
    /// times as long.
    public var pingTime: Duration = .seconds(30)
    /// The most calls of `Watch` of the health service at once.
    public var watches = 64
    /// How often a watch checks for changes.
    public var watchInterval: Duration = .seconds(1)
    /// How long running calls may continue after a graceful shutdown has begun.
    public var drainTime: Duration = .seconds(20)
    /// How many connections wait in the system's backlog before it refuses more.
    public var backlog = 256

    /// The most calls of a connection that are worked on, also after they were reset.
    var calls: Int { 10 * min(max(0, streams), 1 << 20) }

    /// The default limits.
    public init() {}
}
