internal import AssayHTTP
internal import NIOCore

/// A connection that was taken, and the requests that come over it.
struct HTTPConnection: Sendable {
    let channel: any Channel
    let exchanges: AsyncStream<HTTPExchange>
}

/// A request, or what was wrong with it, and the way back for its reply.
struct HTTPExchange: Sendable {
    let input: HTTPInput
    /// Whether it may be answered beside others of the same connection, as the streams of HTTP/2 are.
    let isConcurrent: Bool
    /// Gives the reply to the connection.
    ///
    /// Returns when the client's system has taken it; throws when it never will.
    let send: @Sendable (ServerReply) async throws -> Void
}

/// A request as the connection's reader passes it on: whole, or what was wrong with it.
struct HTTPInput: Sendable {
    enum Content: Sendable {
        case request(GatewayRequest)
        /// What is wrong, and the head as far as it is known.
        case fault(HTTPFault, GatewayRequest?)
    }

    let content: Content
    /// Whether the reply is to have no body, as for HEAD.
    let omitsBody: Bool
    /// Whether the reply is the connection's last.
    let endsConnection: Bool
    /// Whether the client is one of HTTP/1.0 that has to be told that the connection is kept.
    let announcesKeepAlive: Bool
    /// What the request holds of the process's budget; nil for one that was refused because there was no room.
    var reservation: Reservation?

    /// The request, as far as it is known.
    var request: GatewayRequest? {
        switch content {
        case .request(let request): request
        case .fault(_, let request): request
        }
    }
}

/// A reply, and how the connection sends it.
struct ServerReply: Sendable {
    let reply: HTTPReply
    /// Whether only the head is sent.
    var omitsBody = false
    /// Whether the connection ends with this reply.
    var endsConnection = false
    /// Whether the client is told that the connection is kept.
    var announcesKeepAlive = false
}

extension ServerReply {
    init(_ reply: HTTPReply, to input: HTTPInput) {
        self.init(
            reply: reply, omitsBody: input.omitsBody, endsConnection: input.endsConnection,
            announcesKeepAlive: input.announcesKeepAlive)
    }
}
