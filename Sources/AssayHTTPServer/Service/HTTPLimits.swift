internal import AssayHTTP

/// Bounds on what one client, and all of them together, can make the HTTP transport hold or wait for.
public struct HTTPLimits: Sendable, Hashable {
    /// The largest request body, in bytes; a larger one is answered with 413 and not read.
    public var bodyBytes = HTTPGateway.Configuration.defaultBodyBytes
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
    /// How long a request head may take to arrive, measured from the opening of the connection or from the head's first
    /// byte.
    ///
    /// A TLS handshake before it may take as long.
    public var headTime: Duration = .seconds(10)
    /// How long a request body may take as a whole, however many pieces it comes in.
    public var bodyTime: Duration = .seconds(10)
    /// How long a connection is kept without a request, or with replies that the client does not read.
    public var idleTime: Duration = .seconds(60)
    /// How long input is still read and dropped after a last reply, so that a reset does not lose the reply.
    public var lingerTime: Duration = .seconds(2)
    /// How long requests may continue after a graceful shutdown has begun.
    public var drainTime: Duration = .seconds(20)
    /// The most connections at once; fewer if the limit on open files allows fewer.
    ///
    /// When the limit is reached, the connection that has kept the server waiting longest is closed to make room for
    /// the next.
    ///
    /// Connections are accepted a few at a time, so that the limit can be exceeded slightly. There is no limit for each
    /// address: behind a proxy all clients have the same one.
    public var maximumConnections = 10_000
    /// How long a client may be silent, or not read its reply, without having to make room for another.
    public var graceTime: Duration = .seconds(1)
    /// How long requests may wait to be worked on before the server counts as overloaded; nil if they may wait for any time.
    ///
    /// An overloaded server answers requests with 503 at once that would wait longer. While it has to refuse many, the others wait
    /// for less, down to a millisecond: see `OverloadGate`. Zero and less count as nil.
    public var queueTime: Duration? = .milliseconds(20)
    /// How many bytes the system buffers for a client that does not read; Linux uses twice as many.
    public var sendBufferBytes = 65_536
    /// How many connections wait in the system's backlog before it refuses more.
    public var backlog = 1024

    /// The time of ``queueTime`` that is a limit.
    var longestWait: Duration? { queueTime.flatMap { $0 > .zero ? $0 : nil } }

    /// The default limits.
    public init() {}
}
