public import AssayCore

/// A backend's requirements on a token in addition to its validity.
public struct TokenRequirements: Sendable {
    /// The exact `iss`, such as `https://firebaseappcheck.googleapis.com/1234567890`.
    public var issuer: String
    /// What `aud` must hold: `projects/NUMBER` or `projects/ID`.
    public var audience: String
    /// The apps and OAuth clients whose tokens are accepted: values of `sub`.
    ///
    /// Nil for all of the project.
    public var apps: Set<ExactText>?
    /// The providers whose tokens are accepted.
    ///
    /// Nil for all but those for development, which prove nothing (`VerifiedToken.isForDevelopment`); tokens that do not
    /// say how their app proved itself, as Google's do not, are accepted then, too.
    public var providers: Set<ExactText>?
    /// How old a token may be, from `iat` on.
    ///
    /// Nil for the token's whole lifetime.
    public var maximumAge: Duration?
    /// How far the issuer's clock may be ahead.
    public var skew: Duration

    /// Requirements for the tokens of one project; by default every app and provider of it is accepted.
    public init(
        issuer: String, audience: String, apps: Set<ExactText>? = nil, providers: Set<ExactText>? = nil,
        maximumAge: Duration? = nil, skew: Duration = .seconds(30)
    ) {
        self.issuer = issuer
        self.audience = audience
        self.apps = apps
        self.providers = providers
        self.maximumAge = maximumAge
        self.skew = skew
    }

    var expectation: TokenVerifier.Expectation {
        TokenVerifier.Expectation(issuer: issuer, audience: audience, skew: skew)
    }

    /// The reason why a valid token is not accepted; nil if it is.
    ///
    /// What depends on the time is judged by ``refusal(of:at:)``.
    func refusal(of token: VerifiedToken) -> Reason? {
        if let apps, !apps.contains(ExactText(token.subject)) { return TokenReasons.appUnknown }
        if let providers {
            guard let provider = token.provider, providers.contains(ExactText(provider)) else {
                return TokenReasons.providerNotAllowed
            }
        } else if token.isForDevelopment {
            return TokenReasons.forDevelopment
        }
        return nil
    }

    /// The same for what changes as time goes by, so that it must be judged again for tokens that are known.
    func refusal(of token: VerifiedToken, at now: Instant) -> Reason? {
        guard now < token.expires else { return TokenReasons.expired }
        guard token.issued <= now + skew else { return TokenReasons.notYetValid }
        if let maximumAge, now > token.issued + maximumAge { return TokenReasons.tooOld }
        return nil
    }
}
