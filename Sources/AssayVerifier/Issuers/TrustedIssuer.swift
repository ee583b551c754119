public import AssayCore
public import AssayKit

/// A trusted issuer, ready to verify its tokens.
///
/// Several sections may trust one issuer, each with demands of its own on the claims; the keys of one document are the
/// same value in all of them. So a token that several of them may accept is read once, verified once, and then judged by
/// the demands of each.
public struct TrustedIssuer: Sendable {
    /// Its `iss`.
    public let name: String
    /// Its keys.
    public let keys: IssuerKeys
    private let expectation: JWTExpectation
    private let subjects: Set<ExactText>?
    private let claims: [ExactText: String]

    /// - Parameters:
    ///   - configuration: the issuer as a section of a policy has it.
    ///   - path: the path of the configuration in its section.
    ///   - host: what reads references, and fetches published keys.
    ///   - longestLifetime: the longest allowed lifetime of its tokens.
    /// - Throws: what cannot be, by the path of its key.
    public init(
        _ configuration: TrustedIssuerConfiguration, at path: [ConfigurationError.Component] = [], host: PluginHost,
        longestLifetime: Duration = .seconds(3600)
    ) throws(ConfigurationError) {
        guard (1...2048).contains(configuration.issuer.utf8.count) else {
            throw ConfigurationError(at: path + ["issuer"], "expected the issuer as its tokens name it in `iss`")
        }
        guard !configuration.audiences.isEmpty, configuration.audiences.allSatisfy({ !$0.isEmpty }) else {
            throw ConfigurationError(
                at: path + ["audiences"], "without an audience, tokens for other services would be accepted")
        }
        guard configuration.subjects.map({ !$0.isEmpty }) ?? true else {
            throw ConfigurationError(
                at: path + ["subjects"], "without a subject no token is accepted; leave the key out")
        }
        name = configuration.issuer
        expectation = JWTExpectation(
            issuer: configuration.issuer, audiences: Set(configuration.audiences.map { ExactText($0) }),
            longestLifetime: longestLifetime)
        keys = try IssuerKeys.configured(configuration.jwks, at: path + ["jwks"], host: host)
        subjects = configuration.subjects.map { Set($0.map { ExactText($0) }) }
        claims = configuration.claims ?? [:]
    }

    /// Verifies a token and judges its claims.
    ///
    /// - Parameters:
    ///   - token: a JWT that was read.
    ///   - types: the allowed values of `typ`, in lower case, if it is present.
    ///   - now: the time at which the token must be valid.
    /// - Throws: ``JWTFault`` when the token is invalid; ``KeysUnavailable`` when that cannot be decided now.
    public func verify(
        _ token: UnverifiedJWT, types: Set<ExactText> = IssuerKeys.jwt, now: Instant
    ) async throws -> JWTClaims {
        let verified = try await keys.verify(token, types: types)
        try judge(verified, now: now)
        return verified.claims
    }

    /// Reads a token, verifies it and judges its claims.
    ///
    /// - Throws: ``JWTFault`` when the token is invalid; ``KeysUnavailable`` when that cannot be decided now.
    public func verify(
        _ token: String, types: Set<ExactText> = IssuerKeys.jwt, now: Instant
    ) async throws -> JWTClaims {
        try await verify(UnverifiedJWT(token), types: types, now: now)
    }

    /// Judges the claims of a token that ``keys`` have verified.
    ///
    /// - Throws: ``JWTFault`` when a claim is not what it must be.
    public func judge(_ token: VerifiedJWT, now: Instant) throws(JWTFault) {
        let claims = token.claims
        try expectation.judge(claims, now: now)
        if let subjects {
            guard let subject = claims.subject, subjects.contains(ExactText(subject)) else { throw .claim("sub") }
        }
        for (path, text) in self.claims where !claims.text(at: path.string).isExactly(text) {
            throw .claim(path.string)
        }
    }

    /// Explains what is wrong with a token that was refused: its claims and the expected values, for an operator and not
    /// for the sender.
    ///
    /// - Parameters:
    ///   - fault: why it was refused.
    ///   - token: the refused token. Its claims are shown shortened; never the token, and nothing of its signature.
    ///   - now: the time at which it was refused.
    public func explanation(of fault: JWTFault, in token: UnverifiedJWT, now: Instant) -> String {
        expectation.explanation(of: fault, in: token, now: now)
    }
}

/// The requirements on the claims of a JWT, for any issuer.
public struct JWTExpectation: Sendable, Hashable {
    /// The exact `iss`.
    @Exact public var issuer: String
    /// Of these, `aud` must hold one.
    public var audiences: Set<ExactText>
    /// The longest time from `iat` to `exp`, or from now if `iat` is absent.
    public var longestLifetime: Duration
    /// How far the issuer's clock may differ from this server's.
    public var skew: Duration

    /// Makes an expectation; by default tokens may live an hour, and clocks may differ by 30 seconds.
    public init(
        issuer: String, audiences: Set<ExactText>, longestLifetime: Duration = .seconds(3600),
        skew: Duration = .seconds(30)
    ) {
        self.issuer = issuer
        self.audiences = audiences
        self.longestLifetime = longestLifetime
        self.skew = skew
    }

    /// Judges claims whose signature was verified (RFC 7519, section 4.1; RFC 8725, section 3).
    ///
    /// `exp` is required: a token that never expires is a password.
    public func judge(_ claims: JWTClaims, now: Instant) throws(JWTFault) {
        guard claims.issuer.isExactly(issuer) else { throw .issuer }
        guard claims.audience.contains(where: { audiences.contains(ExactText($0)) }) else { throw .audience }
        guard let expires = claims.expires else { throw .claim("exp") }
        guard now < expires else { throw .expired }
        for start in [claims.issued, claims.notBefore].compactMap(\.self) where start > now + skew {
            throw .notYetValid
        }
        // Counted from now, the lifetime may be longer by the skew, which limits how far `iat` may be ahead.
        guard expires - (claims.issued ?? now) <= longestLifetime else { throw .lifeTooLong }
    }
}
