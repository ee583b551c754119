internal import AssayKit
internal import NIOHTTP1

/// Why a request never became a call: what the transport itself answers.
///
/// Messages hold nothing that the client sent, so that nothing is reflected.
struct HTTPFault: Error, Sendable, Hashable {
    let status: HTTPResponseStatus
    /// The canonical code (google.rpc.Code) that stands beside the HTTP status.
    @Exact private(set) var code: String
    @Exact private(set) var message: String
    /// The methods that the path is there for.
    @Exact var allowed: String?
    /// After how many seconds the client may try again.
    var retryAfter: Int?

    init(
        _ status: HTTPResponseStatus, _ code: String, _ message: String, allowed: String? = nil, retryAfter: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.allowed = allowed
        self.retryAfter = retryAfter
    }

    static func invalid(_ message: String) -> HTTPFault {
        HTTPFault(.badRequest, "INVALID_ARGUMENT", message)
    }

    static let malformed = invalid("The request is not valid HTTP.")
    static let malformedPath = invalid("The path of the request is not valid.")
    static let hostMissing = invalid("An HTTP/1.1 request needs exactly one Host header.")
    static let headersTooLarge = HTTPFault(
        .requestHeaderFieldsTooLarge, "INVALID_ARGUMENT", "The request line and the headers are too large.")
    static let headTooSlow = HTTPFault(
        .requestTimeout, "DEADLINE_EXCEEDED", "The head of the request did not arrive in time.")
    static let bodyTooSlow = HTTPFault(
        .requestTimeout, "DEADLINE_EXCEEDED", "The body of the request did not arrive in time.")
    static let compressed = HTTPFault(
        .unsupportedMediaType, "INVALID_ARGUMENT", "Compressed request bodies are not supported.")
    static let transferCoding = HTTPFault(
        .notImplemented, "UNIMPLEMENTED", "Only the transfer coding 'chunked' is supported.")
    static let tooManyRequests = HTTPFault(
        .tooManyRequests, "RESOURCE_EXHAUSTED", "Too many requests were sent without waiting for their replies.")
    static let overloaded = HTTPFault(
        .serviceUnavailable, "UNAVAILABLE", "The server holds as many requests as it can. Retry later.", retryAfter: 1)
    static let unknownMethod = HTTPFault(.notFound, "NOT_FOUND", "Method not found.")

    static func bodyTooLarge(limit: Int) -> HTTPFault {
        HTTPFault(
            .payloadTooLarge, "INVALID_ARGUMENT", "The request body is too large: at most \(limit) bytes are taken.")
    }

    static func wrongVerb(allowed: String) -> HTTPFault {
        HTTPFault(
            .methodNotAllowed, "UNIMPLEMENTED", "The HTTP method is not supported here: use \(allowed).",
            allowed: allowed)
    }
}
