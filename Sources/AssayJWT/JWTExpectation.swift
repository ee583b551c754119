public import AssayKit

/// What is demanded of the claims of a JWT, whoever signed it.
public struct JWTExpectation: Sendable, Hashable {
    /// The exact `iss`.
    @Exact public var issuer: String
    /// Of these, `aud` must hold one.
    public var audiences: Set<ExactText>
    /// The longest that `exp` may be after `iat`, or after now where there is no `iat`.
    public var longestLifetime: Duration
    /// How far the issuer's clock may be from ours.
    public var skew: Duration

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
    /// `exp` must be there: a token that never expires is a password.
    public func judge(_ claims: JWTClaims, now: Instant) throws(JWTFault) {
        guard claims.issuer.isExactly(issuer) else { throw .issuer }
        guard claims.audience.contains(where: { audiences.contains(ExactText($0)) }) else { throw .audience }
        guard let expires = claims.expires else { throw .claim("exp") }
        guard now < expires else { throw .expired }
        for start in [claims.issued, claims.notBefore].compactMap(\.self) where start > now + skew {
            throw .notYetValid
        }
        // Counted from now it may be longer by the skew, which bounds how far `iat` may lie ahead.
        guard expires - (claims.issued ?? now) <= longestLifetime else { throw .lifeTooLong }
    }
}
