/// Why a call has no reply message.
public struct CallFailure: Error, Sendable {
    /// The canonical status that the client receives.
    public let status: StatusCode
    /// The message for the client: never the reason of a refusal.
    public let message: String
    /// Why evidence was refused; for embedders and logs, not for clients.
    ///
    /// Nil when nothing was refused.
    public let reason: Reason?
    /// What helps an operator; not for clients.
    public let detail: String?
    /// When another try makes sense.
    public let retryAfter: Duration?
    /// The error code of OAuth, for transports that use OAuth: `invalid_target`; nil for the one that follows from the
    /// status.
    public let oauthError: String?
    /// Further data for the client, by the names of headers, such as the next challenge.
    public let metadata: [Metadata]

    /// A name and a text, as a header of HTTP or of gRPC carries it.
    public struct Metadata: Sendable, Hashable {
        /// In lower case.
        @Exact public private(set) var name: String
        /// Visible ASCII.
        @Exact public private(set) var value: String

        /// Makes one entry of metadata from the header's name and its value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a failure; the client receives `message`, and only the operator sees `detail`.
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
@nonexhaustive public enum StatusCode: String, Sendable, Hashable, CaseIterable {
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
