public import AssayCore

/// One request to the kernel, independent of any transport.
public struct Call: Sendable {
    /// The method's name: `exchangeDebugToken`.
    public var method: String
    /// The version of the API that was called.
    public var version: APIVersion
    /// The resource's name: `projects/NUMBER_OR_ID/apps/APP_ID`, `oauthClients/CLIENT_ID`, `projects/NUMBER_OR_ID`;
    /// empty for methods without a resource.
    public var resource: String
    /// The request message, an object.
    public var body: JSON
    /// The caller's address, for logs and audit records; nil within a process.
    public var peer: String?
    /// The caller's credentials if a method demands a permission, or the user's if it accepts a token; nil for none.
    public var credentials: BearerToken?
    /// The App Check token, for methods that take one; nil for none.
    public var token: PresentedToken?
    /// The transport's rule that led to the method, for audit records; nil within a process.
    public var route: String?

    /// Makes a call; without `peer` and `credentials` it is anonymous.
    public init(
        _ method: String, version: APIVersion = .v1, resource: String = "", body: JSON = [:], peer: String? = nil,
        credentials: BearerToken? = nil, token: PresentedToken? = nil, route: String? = nil
    ) {
        self.method = method
        self.version = version
        self.resource = resource
        self.body = body
        self.peer = peer
        self.credentials = credentials
        self.token = token
        self.route = route
    }
}

/// The kernel's answer to a call.
public struct Reply: Sendable {
    /// The decision's identifier.
    public let decision: DecisionID
    /// The reply message, or the failure.
    public let result: Result<JSON, CallFailure>
    /// How long a cache may keep the message, for methods whose replies are public; nil for the method's usual time.
    public let lifetime: Duration?

    /// Makes a reply from a message or a failure.
    public init(decision: DecisionID, result: Result<JSON, CallFailure>, lifetime: Duration? = nil) {
        self.decision = decision
        self.result = result
        self.lifetime = lifetime
    }
}
