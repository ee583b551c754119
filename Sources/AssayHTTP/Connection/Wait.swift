internal import NIOCore

/// What a connection waits for, and for how long at most.
enum Wait: Sendable, Hashable {
    /// The kernel's answer, which has deadlines of its own.
    case answer
    /// The first byte of the first request.
    case firstByte
    /// The first byte of another request.
    case nextByte
    /// The rest of a request's head.
    case head
    /// The rest of a request's body.
    case body
    /// The client to take a reply.
    case delivery
    /// The client to close, after the last reply.
    case leave

    func limit(_ limits: HTTPLimits) -> Duration? {
        switch self {
        case .answer: nil
        case .firstByte, .head: limits.headTime
        case .nextByte, .delivery: limits.idleTime
        case .body: limits.bodyTime
        case .leave: limits.lingerTime
        }
    }
}
