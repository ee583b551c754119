public import AssayCore
public import AssayKit

/// A request to a service that App Check protects: the parts that ``Engine/protect(_:)`` needs.
public struct ProtectedRequest: Sendable {
    /// The project's number or ID.
    public var project: String
    /// The service: one of Google's names, or one in the project's policy.
    public var service: String
    /// The OAuth client that the request is about, for `oauth2.googleapis.com`; nil otherwise.
    ///
    /// A resource policy may set a different level for it.
    public var oauthClient: String?
    /// The value of the header `X-Firebase-AppCheck`; nil when it is missing.
    public var token: String?
    /// Other properties of the client in the request.
    public var client: ClientTraits
    /// The sender's address, for logs and audit records.
    public var peer: String?

    /// Makes the description of a request that a proxy or a backend received.
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

/// What a request to a protected service claims about its client.
///
/// Nothing of it is proven; for requests without a token, it distinguishes an old version of the app from other
/// clients.
public struct ClientTraits: Sendable, Hashable {
    /// Whether the request looks like one of a Firebase SDK.
    public var isFirebaseSDK: Bool
    /// The app that the request claims to come from: the value of `X-Firebase-GMPID`.
    @Exact public var appID: String?

    /// Makes the traits; by default, of an unknown client.
    public init(isFirebaseSDK: Bool = false, appID: String? = nil) {
        self.isFirebaseSDK = isFirebaseSDK
        self.appID = appID
    }

    /// Reads the headers that Firebase SDKs send.
    ///
    /// - Parameter header: returns the value of a header by its lower-case name; nil when it is missing.
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

/// The decision about a request to a protected service.
public struct Protection: Sendable {
    /// The facts about an allowed request.
    public struct Admission: Sendable {
        /// How it was counted; nil if the service's level is OFF, so that the token was not read.
        public let use: TokenUse?
        /// Its token, if it is valid, even if it was used before; nil also if the token was not read.
        public let token: VerifiedToken?
    }

    /// The decision's identifier, under which logs and audit records can be found.
    public let decision: DecisionID
    /// Whether the request is allowed; if not, the response to the client and the reason.
    public let result: Result<Admission, CallFailure>
}
