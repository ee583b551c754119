internal import AssayHTTP
internal import NIOCore
internal import Synchronization

/// An accepted connection, and its requests.
struct HTTPConnection: Sendable {
    let channel: any Channel
    let exchanges: AsyncStream<HTTPExchange>
    /// The requests of HTTP/1.1 that have not been taken from `exchanges` yet.
    let backlog: Backlog
    /// Closes it at once, from any thread.
    let close: @Sendable () -> Void
}

/// Counts the requests of a connection that wait for earlier ones.
final class Backlog: Sendable {
    private let count = Atomic(0)

    func add() { count.add(1, ordering: .relaxed) }

    /// Returns how many remain.
    func take() -> Int { count.subtract(1, ordering: .relaxed).newValue }
}

/// A request or its error, with the way to send the reply.
struct HTTPExchange: Sendable {
    let input: HTTPInput
    /// Whether it may be answered concurrently with others of the same connection, as with HTTP/2.
    let isConcurrent: Bool
    /// Whether no other request of the connection is being answered.
    var isAlone = true
    /// Sends the reply through the connection.
    ///
    /// Returns when the client's system has received it; throws when it never will.
    let send: @Sendable (ServerReply) async throws -> Void
}

/// A request as the connection's reader forwards it: complete, or with its error.
struct HTTPInput: Sendable {
    enum Content: Sendable {
        case request(GatewayRequest)
        /// The error, and the known part of the head.
        case fault(HTTPFault, GatewayRequest?)
    }

    let content: Content
    /// Whether the reply is to have no body, as for HEAD.
    let omitsBody: Bool
    /// Whether the reply is the connection's last.
    let endsConnection: Bool
    /// Whether the client uses HTTP/1.0 and must be told that the connection stays open.
    let announcesKeepAlive: Bool
    /// What the request holds of the process's budget; nil for one that was refused because there was no room.
    var reservation: Reservation?
    /// Its place among the requests that wait; nil for one that comes after others of its connection.
    var ticket: OverloadGate.Ticket?
    /// What it is refused with, in its turn and after some time.
    var refusal: (reply: ServerReply, delay: Duration)?

    /// The known part of the request.
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
    /// Whether the client is told that the connection stays open.
    var announcesKeepAlive = false
}

extension ServerReply {
    init(_ reply: HTTPReply, to input: HTTPInput) {
        self.init(
            reply: reply, omitsBody: input.omitsBody, endsConnection: input.endsConnection,
            announcesKeepAlive: input.announcesKeepAlive)
    }
}
