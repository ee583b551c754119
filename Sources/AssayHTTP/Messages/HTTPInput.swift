internal import NIOHTTP1

/// A request as the connection's reader hands it on: whole, or what was wrong with it.
struct HTTPInput: Sendable {
    enum Content: Sendable {
        case request(method: String, target: String, headers: HTTPHeaders, body: [UInt8])
        case fault(HTTPFault)
    }

    let content: Content
    /// Whether the reply is to have no body, as for HEAD.
    let omitsBody: Bool
    /// Whether the reply is the connection's last.
    let endsConnection: Bool
    /// Whether the client is one of HTTP/1.0 that has to be told that the connection is kept.
    let announcesKeepAlive: Bool
}
