/// A request to a service that App Check protects, as far as it matters to ``Engine/protect(_:)``.
public struct ProtectedRequest: Sendable {
    /// The project's number or ID.
    public var project: String
    /// The service: one of Google's names, or one that the project's policy has.
    public var service: String
    /// The OAuth client that the request is about, for `oauth2.googleapis.com`: a resource policy may have a level of its
    /// own for it. Nil otherwise.
    public var oauthClient: String?
    /// What the header `X-Firebase-AppCheck` says; nil when it is not there.
    public var token: String?
    public var client: ClientTraits
    /// Who sent it, for logs and audit records: an address.
    public var peer: String?

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
