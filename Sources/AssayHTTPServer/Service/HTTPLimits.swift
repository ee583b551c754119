/// Bounds on what one client, and all of them together, can make the HTTP transport hold or wait for.
public struct HTTPLimits: Sendable, Hashable {
    /// The largest request body, in bytes; a larger one is answered with 413 and not read.
    public var bodyBytes = 65_536
    /// The largest request target and header fields together, in bytes; more is answered with 431.
    public var headerBytes = 16_384
    /// The most header fields of a request.
    public var headerFields = 100
    /// The most requests that a client may send ahead of their replies; one more is answered with 429.
    public var unansweredRequests = 1000
    /// The most requests that an HTTP/2 connection may have open at once, and the most that are being answered for it.
    public var streams = 100
    /// The most bytes of requests and replies that all streams of an HTTP/2 connection may hold together, before more
    /// requests are answered with 429.
    public var streamBytes = 1_048_576
    /// How long a request head may take: from the connection's beginning or the head's first byte to its last.
    ///
    /// A TLS handshake may take as long before that.
    public var headTime: Duration = .seconds(10)
    /// How long a request body may take as a whole, however many pieces it comes in.
    public var bodyTime: Duration = .seconds(10)
    /// How long a connection may be kept with no request, or with replies that the client does not take.
    public var idleTime: Duration = .seconds(60)
    /// How long input is still read and thrown away after a last reply, so that the reply is not lost to a reset.
    public var lingerTime: Duration = .seconds(2)
    /// How long requests may go on after a graceful shutdown has begun.
    public var drainTime: Duration = .seconds(20)
    /// The most connections at once, or fewer where the limit on open files allows fewer.
    ///
    /// When all are taken, the connection that has kept the server waiting for its client longest is closed to make
    /// room for the next.
    ///
    /// Connections are taken a few at a time, so that the number can be passed by a handful. There is no bound for each
    /// address: behind a proxy all clients have the same one.
    public var maximumConnections = 10_000
    /// How long a client may be silent, or not take its reply, without having to make room for another.
    public var graceTime: Duration = .seconds(1)
    /// How much of what a client does not read the system keeps for it, in bytes; Linux takes it twice.
    public var sendBufferBytes = 65_536
    /// How many connections wait in the system's backlog before it refuses more.
    public var backlog = 1024

    /// The limits that hold unless they are changed.
    public init() {}
}
