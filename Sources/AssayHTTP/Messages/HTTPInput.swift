/// A request as the connection's reader hands it on: whole, or what was wrong with it.
struct HTTPInput: Sendable {
    enum Content: Sendable {
        case request(RequestHead, body: [UInt8])
        /// What is wrong, and the head as far as it is known.
        case fault(HTTPFault, RequestHead?)
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

    /// The request's head, as far as it is known.
    var head: RequestHead? {
        switch content {
        case .request(let head, _): head
        case .fault(_, let head): head
        }
    }
}
