internal import AssayCore

/// A complete reply: JSON, except for the page of metrics.
public struct HTTPReply: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields; the server adds `date`, `content-length` and the fields about the connection.
    public var headers: HeaderFields
    /// The body.
    ///
    /// A server leaves it out if the request's method is `HEAD`, but sends its length.
    public var body: [UInt8]

    /// Makes a reply that replaces one of the gateway's.
    package init(_ status: HTTPStatus, headers: HeaderFields = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    init(_ status: HTTPStatus, _ json: JSON, cacheControl: String = "no-store") {
        self.status = status
        self.body = json.encoded
        self.headers = [
            ("content-type", "application/json; charset=UTF-8"),
            ("cache-control", cacheControl),
            ("x-content-type-options", "nosniff"),
        ]
    }

    /// A reply without a body.
    init(empty status: HTTPStatus, headers: HeaderFields) {
        self.status = status
        self.headers = headers
        self.body = []
    }

    /// A page that is not JSON.
    init(_ page: HTTPPage) {
        self.status = .ok
        self.body = page.body
        self.headers = [
            ("content-type", page.contentType),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
        ]
    }

    /// The transport's own refusal.
    init(_ fault: HTTPFault) {
        self.init(fault.status, HTTPReply.error(fault.status, fault.code, fault.message))
        if let allowed = fault.allowed { headers.append(("allow", allowed)) }
        if let wait = fault.retryAfter { headers.append(("retry-after", String(wait))) }
        // RFC 9110, section 12.5.3: without it the client might look for the error in the media type.
        if fault == .compressed { headers.append(("accept-encoding", "identity")) }
    }

    /// The kernel's failure: the status, the message and the decision, but not the reason.
    init(_ failure: CallFailure, decision: DecisionID, _ status: HTTPStatus) {
        let details: JSON = [
            [
                "@type": "type.googleapis.com/google.rpc.RequestInfo",
                "requestId": .string(decision.text),
            ]
        ]
        self.init(status, HTTPReply.error(status, failure.status.rawValue, failure.message, details: details))
        // RFC 6750, section 3: at least one parameter, because httplib2 fails without one.
        if failure.status == .unauthenticated { headers.append(("www-authenticate", "Bearer realm=\"assay\"")) }
        if let wait = failure.retryAfter { headers.append(("retry-after", String(HTTPReply.wholeSeconds(wait)))) }
    }

    /// The shape of google.rpc.Status in JSON, which clients parse.
    static func error(
        _ status: HTTPStatus, _ code: String, _ message: String, details: JSON? = nil
    ) -> JSON {
        var members = [
            JSONMember("code", .integer(Int64(status.code))),
            JSONMember("message", .string(message)),
            JSONMember("status", .string(code)),
        ]
        if let details { members.append(JSONMember("details", details)) }
        return ["error": .object(members)]
    }

    /// Rounded up, and at least one, so that a retry does not come too early.
    static func wholeSeconds(_ duration: Duration) -> Int64 {
        let (seconds, fraction) = duration.components
        return max(1, min(seconds, .max - 1) + (fraction > 0 ? 1 : 0))
    }
}

extension StatusCode {
    /// The HTTP status of a canonical code, as google.rpc.Code maps it.
    var httpStatus: HTTPStatus {
        switch self {
        case .invalidArgument, .failedPrecondition: .badRequest
        case .unauthenticated: .unauthorized
        case .permissionDenied: .forbidden
        case .notFound: .notFound
        case .alreadyExists, .aborted: .conflict
        case .resourceExhausted: .tooManyRequests
        case .unimplemented: .notImplemented
        case .unavailable: .serviceUnavailable
        case .internalError: .internalServerError
        }
    }
}

/// A status of HTTP (RFC 9110, section 15).
public struct HTTPStatus: Sendable, Hashable {
    /// The three digits, as a number.
    public let code: Int

    /// A status by its number.
    public init(_ code: Int) {
        self.code = code
    }

    static let ok = HTTPStatus(200)
    static let noContent = HTTPStatus(204)
    static let notModified = HTTPStatus(304)
    static let badRequest = HTTPStatus(400)
    static let unauthorized = HTTPStatus(401)
    static let forbidden = HTTPStatus(403)
    static let notFound = HTTPStatus(404)
    static let methodNotAllowed = HTTPStatus(405)
    static let requestTimeout = HTTPStatus(408)
    static let conflict = HTTPStatus(409)
    static let payloadTooLarge = HTTPStatus(413)
    static let unsupportedMediaType = HTTPStatus(415)
    static let misdirectedRequest = HTTPStatus(421)
    static let tooManyRequests = HTTPStatus(429)
    static let requestHeaderFieldsTooLarge = HTTPStatus(431)
    static let internalServerError = HTTPStatus(500)
    static let notImplemented = HTTPStatus(501)
    static let serviceUnavailable = HTTPStatus(503)
}
