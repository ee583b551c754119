/// An App Check token whose signature and claims have been verified.
public struct VerifiedToken: Sendable, Hashable {
    /// `sub`: the App Check app ID or the OAuth client ID.
    @Exact public private(set) var subject: String
    /// `aud`: `projects/NUMBER`, then `projects/ID`.
    @Exact public private(set) var audience: [String]
    /// `provider`: how the app proved itself; nil in tokens that do not say.
    @Exact public private(set) var provider: String?
    /// `iss`.
    @Exact public private(set) var issuer: String
    /// `exp`.
    public let expires: Instant
    /// `iat`.
    public let issued: Instant
    /// `jti`: what consuming a token is remembered by.
    @Exact public private(set) var id: String
    /// `jti_by`: an opaque text for the chooser of `id`; nil if the issuer chose it at random.
    ///
    /// Two tokens count as one only if both values are the same.
    @Exact public private(set) var idChooser: String?
    /// `development`: whether the provider proves nothing, and is for simulators and tests.
    public let isForDevelopment: Bool
    /// `state`: the state that the token was issued in; only tokens of a state's first minute name it.
    @Exact public private(set) var state: String?
    /// `cnf`: the device's key, by which it proves its requests; nil in tokens that name none, or in another form.
    public let confirmation: ConfirmationKey?

    /// Makes a token from claims that are already verified.
    public init(
        subject: String, audience: [String], provider: String?, issuer: String, expires: Instant, issued: Instant,
        id: String, idChooser: String? = nil, isForDevelopment: Bool = false,
        state: String? = nil, confirmation: ConfirmationKey? = nil
    ) {
        self.state = state
        self.confirmation = confirmation
        self.isForDevelopment = isForDevelopment
        self.subject = subject
        self.audience = audience
        self.provider = provider
        self.issuer = issuer
        self.expires = expires
        self.issued = issued
        self.id = id
        self.idChooser = idChooser
    }
}
