public import AssayCore
public import AssayCrypto

/// Verifies App Check tokens against a set of public keys, as a relying party does.
///
/// The rules are those that the Admin SDKs share: `typ` is JWT, `kid` names the key, which matches `alg`, the signature
/// is valid, `iss` is the project's, `aud` is an array that contains the project, `sub` is not empty, `exp` has not
/// passed.
public struct TokenVerifier: Sendable {
    /// The text that App Check's clients send instead of a token that they could not obtain.
    public static let placeholder = "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ=="

    private let verifier: JWSVerifier

    /// A verifier that knows these public keys and no others.
    public init(keys: JWKSet) {
        verifier = JWSVerifier(keys)
    }

    /// What a relying party demands of a token.
    public struct Expectation: Sendable {
        /// The exact `iss`.
        public var issuer: String
        /// What `aud` must hold: `projects/NUMBER` or `projects/ID`.
        public var audience: String
        /// How far the issuer's clock may be ahead.
        public var skew: Duration

        /// What tokens of one project must say; the issuer's clock may be 30 seconds ahead by default.
        public init(issuer: String, audience: String, skew: Duration = .seconds(30)) {
            self.issuer = issuer
            self.audience = audience
            self.skew = skew
        }
    }

    /// What a token turned out to be.
    public enum Outcome: Sendable, Equatable {
        case verified(VerifiedToken)
        case refused(Reason)
    }

    /// Verifies a token at a time.
    public func verify(_ token: String, _ expectation: Expectation, now: Instant) -> Outcome {
        guard !token.isExactly(TokenVerifier.placeholder) else { return .refused(TokenReasons.placeholder) }
        var outcome = Outcome.refused(TokenReasons.malformed)
        do throws(JWSError) {
            try verifier.verify(token.utf8.span) { header, payload in
                outcome = TokenVerifier.judge(header, payload, expectation, now: now)
            }
        } catch {
            return .refused(TokenVerifier.reason(error))
        }
        return outcome
    }

    /// The type and the claims of any JWT that one of the keys signed; nil for all others.
    package func signed(_ token: String) -> (type: String, claims: JSON)? {
        guard let signed = try? verifier.verify(utf8: Array(token.utf8)[...]), let type = signed.header.type,
            let claims = try? JSON.parse(
                signed.payload, limits: JSON.Limits(bytes: 16_384, depth: 16, values: 1024, allowsRepeatedNames: false)),
            claims.members != nil
        else { return nil }
        return (type, claims)
    }

    /// Judges what a token says, once its signature is known to be good.
    private static func judge(
        _ header: JWSHeader, _ payload: Span<UInt8>, _ expectation: Expectation, now: Instant
    ) -> Outcome {
        guard header.type.isExactly("JWT"), let token = VerifiedToken(payload: payload) else {
            return .refused(TokenReasons.malformed)
        }
        return judge(token, expectation, now: now)
    }

    /// Judges the claims of a token whose signature was verified, now or before.
    package static func judge(_ token: VerifiedToken, _ expectation: Expectation, now: Instant) -> Outcome {
        guard token.audience.contains(exactly: expectation.audience) else { return .refused(TokenReasons.audience) }
        guard token.issuer.isExactly(expectation.issuer) else { return .refused(TokenReasons.issuer) }
        guard now < token.expires else { return .refused(TokenReasons.expired) }
        guard token.issued <= now || token.issued <= now + expectation.skew else {
            return .refused(TokenReasons.notYetValid)
        }
        return .verified(token)
    }

    private static func reason(_ error: JWSError) -> Reason {
        switch error {
        case .malformed: TokenReasons.malformed
        case .unsupportedAlgorithm, .algorithmMismatch: TokenReasons.algorithm
        case .unknownKey: TokenReasons.keyUnknown
        case .badSignature: TokenReasons.signature
        }
    }
}

extension VerifiedToken {
    private static let limits = JSON.Limits(bytes: 16_384, depth: 8, values: 256, allowsRepeatedNames: false)

    /// The claims of a token with this payload; nil when it is not JSON as JOSE requires it, or when a claim is missing
    /// or has the wrong type.
    init?(payload: Span<UInt8>) {
        if let plain = PlainClaims.read(payload) {
            self = plain
        } else {
            self.init(parsing: payload.withUnsafeBufferPointer { Array($0) })
        }
    }

    /// The same, however the claims are spelled.
    init?(parsing payload: [UInt8]) {
        guard let claims = try? JSON.parse(payload, limits: Self.limits) else { return nil }
        self.init(claims: claims)
    }

    /// The claims of a token; nil when one is missing or has the wrong type.
    init?(claims: JSON) {
        guard let subject = claims["sub"]?.string, !subject.isEmpty, let issuer = claims["iss"]?.string,
            let audience = claims["aud"]?.array, let expires = claims["exp"]?.integer,
            let issued = claims["iat"]?.integer, let id = claims["jti"]?.string, !id.isEmpty,
            // A mark that cannot be read must not count as absent.
            let isForDevelopment = (claims["development"] ?? false).bool
        else { return nil }
        self.init(
            subject: subject, audience: audience.compactMap(\.string), provider: claims["provider"]?.string,
            issuer: issuer, expires: Instant(seconds: expires), issued: Instant(seconds: issued), id: id,
            idChooser: claims["jti_by"]?.string, isForDevelopment: isForDevelopment, state: claims["state"]?.string,
            confirmation: claims["cnf"].flatMap { ConfirmationKey(claim: $0) })
    }
}
