public import AssayCore

/// The reason why a request never becomes a call: an answer of the gateway or the server itself.
///
/// Messages contain nothing that the client sent, so that nothing is reflected.
public struct HTTPFault: Error, Sendable, Hashable {
    /// The status of the reply.
    public let status: HTTPStatus
    /// The canonical code (google.rpc.Code), next to the HTTP status.
    @Exact public private(set) var code: String
    /// What is wrong, for the client.
    @Exact public private(set) var message: String
    /// The HTTP methods that the path has, for the header `Allow`.
    @Exact var allowed: String?
    /// The number of seconds after which the client may try again.
    var retryAfter: Int?

    init(
        _ status: HTTPStatus, _ code: String, _ message: String, allowed: String? = nil, retryAfter: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.allowed = allowed
        self.retryAfter = retryAfter
    }

    /// Makes a fault for a request that its method does not accept.
    static func invalid(_ message: String) -> HTTPFault {
        HTTPFault(.badRequest, "INVALID_ARGUMENT", message)
    }

    /// The bytes are not valid HTTP.
    public static let malformed = invalid("The request is not valid HTTP.")
    /// The path has a broken escape or bytes that no path may have.
    public static let malformedPath = invalid("The path of the request is not valid.")
    /// An HTTP/1.1 request without exactly one `Host`.
    public static let hostMissing = invalid("An HTTP/1.1 request needs exactly one Host header.")
    /// The request line and the header fields are too large.
    public static let headersTooLarge = HTTPFault(
        .requestHeaderFieldsTooLarge, "INVALID_ARGUMENT", "The request line and the headers are too large.")
    /// The head did not arrive in time.
    public static let headTooSlow = HTTPFault(
        .requestTimeout, "DEADLINE_EXCEEDED", "The head of the request did not arrive in time.")
    /// The body did not arrive in time.
    public static let bodyTooSlow = HTTPFault(
        .requestTimeout, "DEADLINE_EXCEEDED", "The body of the request did not arrive in time.")
    /// The body came in thousands of tiny pieces, each of which costs as much as a large one.
    public static let bodyTooFragmented = invalid("The request body has too many tiny chunks.")
    /// The body has a content coding.
    public static let compressed = HTTPFault(
        .unsupportedMediaType, "INVALID_ARGUMENT", "Compressed request bodies are not supported.")
    /// A transfer coding other than `chunked`.
    public static let transferCoding = HTTPFault(
        .notImplemented, "UNIMPLEMENTED", "Only the transfer coding 'chunked' is supported.")
    /// The client sends requests without waiting for their replies.
    public static let tooManyRequests = HTTPFault(
        .tooManyRequests, "RESOURCE_EXHAUSTED", "Too many requests were sent without waiting for their replies.")
    /// The server has no room for the request or its reply.
    public static let overloaded = HTTPFault(
        .serviceUnavailable, "UNAVAILABLE", "The server holds as many requests as it can. Retry later.", retryAfter: 1)
    /// Requests arrive faster than the server can answer them.
    public static let busy = HTTPFault(
        .serviceUnavailable, "UNAVAILABLE", "The server has more requests than it can answer in time. Retry later.",
        retryAfter: 1)
    /// No method has this path.
    public static let unknownMethod = HTTPFault(.notFound, "NOT_FOUND", "Method not found.")

    /// A page with details was asked for by a name that may be anybody's.
    static let foreignHost = HTTPFault(
        .misdirectedRequest, "FAILED_PRECONDITION",
        "This page is answered for an address, or for a host that the server's --operations-host names.")

    /// A body with more than `limit` bytes.
    public static func bodyTooLarge(limit: Int) -> HTTPFault {
        HTTPFault(
            .payloadTooLarge, "INVALID_ARGUMENT", "The request body is too large: at most \(limit) bytes are accepted.")
    }

    /// A path that exists for other HTTP methods.
    static func wrongVerb(allowed: String) -> HTTPFault {
        HTTPFault(
            .methodNotAllowed, "UNIMPLEMENTED", "The HTTP method is not supported here: use \(allowed).",
            allowed: allowed)
    }
}
