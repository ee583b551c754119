/// A request, or what was wrong with it, and the way back for its reply.
struct HTTPExchange: Sendable {
    let input: HTTPInput
    /// Whether it may be answered beside others of the same connection, as the streams of HTTP/2 are.
    let isConcurrent: Bool
    /// Hands the reply to the connection. Returns when the client's system has taken it; throws when it never will.
    let send: @Sendable (HTTPReply) async throws -> Void
}
