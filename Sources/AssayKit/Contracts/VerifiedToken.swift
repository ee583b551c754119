/// An App Check token whose signature and claims have been verified.
public struct VerifiedToken: Sendable, Hashable {
    /// `sub`: the App Check app ID or the OAuth client ID.
    public let subject: String
    /// `aud`: `projects/NUMBER`, then `projects/ID`.
    public let audience: [String]
    /// `provider`: how the app proved itself; nil in tokens that do not say.
    public let provider: String?
    /// `iss`.
    public let issuer: String
    /// `exp`.
    public let expires: Instant
    /// `iat`.
    public let issued: Instant
    /// `jti`: what consuming a token is remembered by.
    public let id: String

    public init(
        subject: String, audience: [String], provider: String?, issuer: String, expires: Instant, issued: Instant,
        id: String
    ) {
        self.subject = subject
        self.audience = audience
        self.provider = provider
        self.issuer = issuer
        self.expires = expires
        self.issued = issued
        self.id = id
    }
}
