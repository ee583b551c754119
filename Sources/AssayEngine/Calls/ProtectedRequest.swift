public import AssayCore
public import AssayHosting

/// A request to a service that App Check protects, as far as it matters to ``Engine/protect(_:)``.
public struct ProtectedRequest: Sendable {
    /// The project's number or ID.
    public var project: String
    /// The service: one of Google's names, or one that the project's policy has.
    public var service: String
    /// The OAuth client that the request is about, for `oauth2.googleapis.com`: a resource policy may have a level of
    /// its own for it.
    ///
    /// Nil otherwise.
    public var oauthClient: String?
    /// What the header `X-Firebase-AppCheck` says; nil when it is not there.
    public var token: String?
    /// What else the request says of its client.
    public var client: ClientTraits
    /// Who sent it, for logs and audit records: an address.
    public var peer: String?

    /// A request, as a proxy or a backend sees it.
    public init(
        project: String, service: String, oauthClient: String? = nil, token: String?,
        client: ClientTraits = ClientTraits(), peer: String? = nil
    ) {
        self.project = project
        self.service = service
        self.oauthClient = oauthClient
        self.token = token
        self.client = client
        self.peer = peer
    }
}

/// What a request to a protected service says of its client.
///
/// Nothing of it is proven; where there is no token, it tells an old version of the app from other clients.
public struct ClientTraits: Sendable, Hashable {
    /// Whether the request looks like one of a Firebase SDK.
    public var isFirebaseSDK: Bool
    /// The app that it claims to come from: the value of `X-Firebase-GMPID`.
    @Exact public var appID: String?

    /// By default, a client of which nothing is known.
    public init(isFirebaseSDK: Bool = false, appID: String? = nil) {
        self.isFirebaseSDK = isFirebaseSDK
        self.appID = appID
    }

    /// Reads the headers that Firebase SDKs send.
    ///
    /// - Parameter header: the value of a header by its name in lower case; nil when there is none.
    public init(headers header: (String) -> String?) {
        let appID = header("x-firebase-gmpid")
        let agents = ["x-goog-api-client", "x-client-version", "user-agent"].compactMap(header)
        let isFirebaseSDK =
            !appID.isNil || !header("x-firebase-client").isNil
            || agents.contains { agent in
                ["fire/", "fire-", "firebase"].contains { agent.lowercasedASCII.utf8.contains($0.utf8) }
            }
        self.init(isFirebaseSDK: isFirebaseSDK, appID: appID)
    }
}

/// What became of a request to a protected service.
public struct Protection: Sendable {
    /// A request that is let through.
    public struct Admission: Sendable {
        /// How it was counted; nil where the service's level is OFF, so that the token was not read.
        public let use: TokenUse?
        /// Its token, if it is valid, whether or not it was used before; nil also where the token was not read.
        public let token: VerifiedToken?
    }

    /// The decision's identifier, under which logs and audit records can be found.
    public let decision: DecisionID
    /// Whether it is let through; if not, what to tell the client, and the reason.
    public let result: Result<Admission, CallFailure>
}
