/// How a method is spoken over HTTP where that is not App Check's way: JSON in, JSON out, errors as google.rpc.Status.
public struct HTTPBinding: Sendable, Hashable {
    /// What refusals and faults look like.
    public enum Errors: Sendable, Hashable {
        /// google.rpc.Status in JSON.
        case google
        /// `error` and `error_description` (RFC 6749, section 5.2).
        case oauth
        /// The status and headers, without a body.
        case bare
    }

    /// What the body of a request is.
    public enum Body: Sendable, Hashable {
        /// A JSON object.
        case json
        /// `application/x-www-form-urlencoded`; a parameter that is there several times becomes a list.
        case form
        /// Whatever it is, it is not waited for and not read.
        case ignored
    }

    /// A header and the field of a message that it carries.
    public struct Header: Sendable, Hashable {
        /// In lower case.
        @Exact public private(set) var name: String
        /// In lowerCamelCase.
        @Exact public private(set) var field: String

        public init(_ name: String, _ field: String) {
            self.name = name
            self.field = field
        }
    }

    public var body: Body
    public var errors: Errors
    /// Headers of requests that become fields; one that is there several times becomes a list.
    public var requestHeaders: [Header]
    /// The field that gets the request's HTTP method; nil for none.
    @Exact public var verbField: String?
    /// Fields of replies that become headers. Where it is not nil, a reply has no body, and the status 204.
    public var replyHeaders: [Header]?
    /// The field of such a reply with another status for it, a whole number from 200 to 299.
    @Exact public var statusField: String?
    /// Statuses in place of the usual ones.
    public var statuses: [StatusCode: Int]

    public init(
        body: Body = .json, errors: Errors = .google, requestHeaders: [Header] = [], verbField: String? = nil,
        replyHeaders: [Header]? = nil, statusField: String? = nil, statuses: [StatusCode: Int] = [:]
    ) {
        self.body = body
        self.errors = errors
        self.requestHeaders = requestHeaders
        self.verbField = verbField
        self.replyHeaders = replyHeaders
        self.statusField = statusField
        self.statuses = statuses
    }

    /// App Check's own way.
    public static let standard = HTTPBinding()
    /// That of OAuth's endpoints: a form, and errors of OAuth.
    public static let oauth = HTTPBinding(body: .form, errors: .oauth)
}
