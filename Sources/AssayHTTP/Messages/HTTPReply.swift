internal import AssayKit
internal import NIOHTTP1

/// A whole reply: JSON, but for the page of metrics.
struct HTTPReply: Sendable {
    var status: HTTPResponseStatus
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// Whether only the head is sent.
    var omitsBody = false
    /// Whether the connection ends with this reply.
    var endsConnection = false
    var announcesKeepAlive = false

    init(_ status: HTTPResponseStatus, _ json: JSON, cacheControl: String = "no-store") {
        self.status = status
        self.body = json.encoded
        self.headers = [
            ("content-type", "application/json; charset=UTF-8"),
            ("cache-control", cacheControl),
            ("x-content-type-options", "nosniff"),
        ]
    }

    /// A head and nothing more.
    init(empty status: HTTPResponseStatus, headers: [(name: String, value: String)]) {
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

    /// What the transport itself refuses.
    init(_ fault: HTTPFault) {
        self.init(fault.status, HTTPReply.error(fault.status, fault.code, fault.message))
        if let allowed = fault.allowed { headers.append(("allow", allowed)) }
        if let wait = fault.retryAfter { headers.append(("retry-after", String(wait))) }
        // RFC 9110, section 12.5.3: without it the client might look for what is wrong in the type.
        if fault == .compressed { headers.append(("accept-encoding", "identity")) }
    }

    /// What the kernel refuses: the status, the message and the decision, but not why.
    init(_ failure: CallFailure, decision: DecisionID) {
        let status = failure.status.httpStatus
        let details: JSON = [
            [
                "@type": "type.googleapis.com/google.rpc.RequestInfo",
                "requestId": .string(decision.text),
            ]
        ]
        self.init(status, HTTPReply.error(status, failure.status.rawValue, failure.message, details: details))
        // RFC 6750, section 3: one parameter at least, without which httplib2 breaks off.
        if failure.status == .unauthenticated { headers.append(("www-authenticate", "Bearer realm=\"assay\"")) }
        if let wait = failure.retryAfter { headers.append(("retry-after", String(HTTPReply.wholeSeconds(wait)))) }
    }

    /// The shape of google.rpc.Status in JSON, which clients parse.
    private static func error(
        _ status: HTTPResponseStatus, _ code: String, _ message: String, details: JSON? = nil
    ) -> JSON {
        var members = [
            JSONMember("code", .integer(Int64(status.code))),
            JSONMember("message", .string(message)),
            JSONMember("status", .string(code)),
        ]
        if let details { members.append(JSONMember("details", details)) }
        return ["error": .object(members)]
    }

    /// Rounded up, and at least one: an earlier retry would come too early.
    static func wholeSeconds(_ duration: Duration) -> Int64 {
        let (seconds, fraction) = duration.components
        return max(1, min(seconds, .max - 1) + (fraction > 0 ? 1 : 0))
    }
}

extension StatusCode {
    /// The HTTP status of a canonical code, as google.rpc.Code maps it.
    var httpStatus: HTTPResponseStatus {
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
