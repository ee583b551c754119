/// One request to the kernel, free of any transport.
public struct Call: Sendable {
    /// The method's name: `exchangeDebugToken`.
    public var method: String
    public var version: APIVersion
    /// The resource's name: `projects/NUMBER_OR_ID/apps/APP_ID`, `oauthClients/CLIENT_ID`, `projects/NUMBER_OR_ID`; empty
    /// where there is none.
    public var resource: String
    /// The request message, an object.
    public var body: JSON
    /// Who calls, for logs and audit records: an address; nil in a process.
    public var peer: String?
    /// What the caller shows to be let in where a method demands a permission, and who the user is where it takes a
    /// token; nil for nothing.
    public var credentials: BearerToken?
    /// The App Check token, for methods that take one; nil for none.
    public var token: PresentedToken?

    public init(
        _ method: String, version: APIVersion = .v1, resource: String = "", body: JSON = [:], peer: String? = nil,
        credentials: BearerToken? = nil, token: PresentedToken? = nil
    ) {
        self.method = method
        self.version = version
        self.resource = resource
        self.body = body
        self.peer = peer
        self.credentials = credentials
        self.token = token
    }
}

/// The kernel's answer to a call.
public struct Reply: Sendable {
    /// The decision's identifier.
    public let decision: DecisionID
    /// The reply message, or what went wrong.
    public let result: Result<JSON, CallFailure>

    public init(decision: DecisionID, result: Result<JSON, CallFailure>) {
        self.decision = decision
        self.result = result
    }
}

/// Why a call has no reply message.
public struct CallFailure: Error, Sendable {
    /// What the client is told, as a canonical status.
    public let status: StatusCode
    /// What the client is told in words: never the reason of a refusal.
    public let message: String
    /// Why evidence was refused; for embedders and logs, not for clients. Nil when nothing was refused.
    public let reason: Reason?
    /// What helps an operator; not for clients.
    public let detail: String?
    /// When another try makes sense.
    public let retryAfter: Duration?
    /// What it is in the words of OAuth, for transports that speak it: `invalid_target`; nil for what follows from the
    /// status.
    public let oauthError: String?
    /// What else the client is told, by the names of headers: a challenge to use next, for instance.
    public let metadata: [Metadata]

    /// A name and a text, as a header of HTTP or of gRPC carries it.
    public struct Metadata: Sendable, Hashable {
        /// In lower case.
        @Exact public private(set) var name: String
        /// Visible ASCII.
        @Exact public private(set) var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(
        _ status: StatusCode, _ message: String, reason: Reason? = nil, detail: String? = nil,
        retryAfter: Duration? = nil, oauthError: String? = nil, metadata: [Metadata] = []
    ) {
        self.status = status
        self.message = message
        self.reason = reason
        self.detail = detail
        self.retryAfter = retryAfter
        self.oauthError = oauthError
        self.metadata = metadata
    }
}

/// The canonical statuses (google.rpc.Code) that calls can end with.
public enum StatusCode: String, Sendable, Hashable, CaseIterable {
    case invalidArgument = "INVALID_ARGUMENT"
    case failedPrecondition = "FAILED_PRECONDITION"
    case unauthenticated = "UNAUTHENTICATED"
    case permissionDenied = "PERMISSION_DENIED"
    case notFound = "NOT_FOUND"
    case alreadyExists = "ALREADY_EXISTS"
    case aborted = "ABORTED"
    case resourceExhausted = "RESOURCE_EXHAUSTED"
    case unimplemented = "UNIMPLEMENTED"
    case unavailable = "UNAVAILABLE"
    case internalError = "INTERNAL"
}
