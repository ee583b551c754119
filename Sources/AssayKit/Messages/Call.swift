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
    /// What the caller shows to be let in where a method demands a permission; nil for nothing.
    public var credentials: BearerToken?

    public init(
        _ method: String, version: APIVersion = .v1, resource: String = "", body: JSON = [:], peer: String? = nil,
        credentials: BearerToken? = nil
    ) {
        self.method = method
        self.version = version
        self.resource = resource
        self.body = body
        self.peer = peer
        self.credentials = credentials
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

    public init(
        _ status: StatusCode, _ message: String, reason: Reason? = nil, detail: String? = nil,
        retryAfter: Duration? = nil
    ) {
        self.status = status
        self.message = message
        self.reason = reason
        self.detail = detail
        self.retryAfter = retryAfter
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
