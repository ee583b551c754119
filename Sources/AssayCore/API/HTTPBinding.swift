/// The form of a method over HTTP, if it differs from App Check's: JSON in, JSON out, errors as google.rpc.Status.
public struct HTTPBinding: Sendable, Hashable {
    /// What refusals and faults look like.
    @nonexhaustive public enum Errors: Sendable, Hashable {
        /// google.rpc.Status in JSON.
        case google
        /// `error` and `error_description` (RFC 6749, section 5.2).
        case oauth
        /// The status and headers, without a body.
        case bare
    }

    /// What the body of a request is.
    @nonexhaustive public enum Body: Sendable, Hashable {
        /// A JSON object.
        case json
        /// `application/x-www-form-urlencoded`; a repeated parameter becomes a list.
        case form
        /// The body is not awaited and not read.
        case ignored
    }

    /// A header and the field of a message that it carries.
    public struct Header: Sendable, Hashable {
        /// In lower case.
        @Exact public private(set) var name: String
        /// In lowerCamelCase.
        @Exact public private(set) var field: String

        /// Binds an HTTP header to a field of the message.
        public init(_ name: String, _ field: String) {
            self.name = name
            self.field = field
        }
    }

    /// Where a method decides whether another request may pass: the fields of its own request message that describe
    /// that one.
    ///
    /// Transports over which proxies ask find the method by this.
    public struct ProxiedRequest: Sendable, Hashable {
        /// The field that gets the HTTP method.
        @Exact public private(set) var method: String
        /// The field that gets the path with its query.
        @Exact public private(set) var target: String
        /// The field that gets the name of the backend.
        @Exact public private(set) var backend: String
        /// Headers of that request that become fields; a repeated header becomes a list.
        public let headers: [Header]

        /// Names the fields, in lowerCamelCase.
        public init(method: String, target: String, backend: String, headers: [Header] = []) {
            self.headers = headers
            self.method = method
            self.target = target
            self.backend = backend
        }
    }

    /// How the body of a request is read.
    public var body: Body
    /// How errors are written in responses.
    public var errors: Errors
    /// Headers of requests that become fields; a repeated header becomes a list.
    public var requestHeaders: [Header]
    /// The field that gets the request's HTTP method; nil for none.
    @Exact public var verbField: String?
    /// Fields of replies that become headers.
    ///
    /// If it is not nil, a reply has no body, and the status 204.
    public var replyHeaders: [Header]?
    /// The field of such a reply that sets another status, a whole number from 200 to 299.
    @Exact public var statusField: String?
    /// Statuses that replace the usual ones.
    public var statuses: [StatusCode: Int]
    /// Where the method decides about another request: the fields that describe it.
    public var proxied: ProxiedRequest?

    /// Makes a binding; the defaults are those of App Check's own API.
    public init(
        body: Body = .json, errors: Errors = .google, requestHeaders: [Header] = [], verbField: String? = nil,
        replyHeaders: [Header]? = nil, statusField: String? = nil, statuses: [StatusCode: Int] = [:],
        proxied: ProxiedRequest? = nil
    ) {
        self.body = body
        self.errors = errors
        self.requestHeaders = requestHeaders
        self.verbField = verbField
        self.replyHeaders = replyHeaders
        self.statusField = statusField
        self.statuses = statuses
        self.proxied = proxied
    }

    /// App Check's own way.
    public static let standard = HTTPBinding()
    /// The form of OAuth's endpoints: form requests, and OAuth errors.
    public static let oauth = HTTPBinding(body: .form, errors: .oauth)
}

/// What methods with a ``HTTPBinding/ProxiedRequest`` put on record of a request, so that tools find out which one it was.
extension FactName {
    /// The method of the request that a proxy asked about.
    public static let requestMethod: FactName = "request_method"
    /// The path, without the query, as the proxy sent it.
    public static let requestPath: FactName = "request_path"
}
