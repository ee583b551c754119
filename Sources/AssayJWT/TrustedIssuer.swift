public import AssayKit

/// A trusted issuer, ready to verify its tokens.
public struct TrustedIssuer: Sendable {
    /// Its `iss`.
    public let name: String
    private let expectation: JWTExpectation
    private let keys: IssuerKeys
    private let subjects: Set<ExactText>?
    private let claims: [ExactText: String]

    /// - Parameters:
    ///   - path: where the configuration stands in its section.
    ///   - longestLifetime: the longest life that its tokens may have.
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
                at: path + ["audiences"], "without an audience a token that was made for somebody else would do")
        }
        guard configuration.subjects.map({ !$0.isEmpty }) ?? true else {
            throw ConfigurationError(at: path + ["subjects"], "without a subject nobody is trusted; leave the key out")
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
    /// - Parameter types: what `typ` may say, in lower case, where it is there.
    /// - Throws: ``JWTFault`` when the token is no good; ``KeysUnavailable`` when that cannot be decided now.
    public func verify(
        _ token: String, types: Set<ExactText> = IssuerKeys.jwt, now: Instant
    ) async throws -> JWTClaims {
        let verified = try await keys.verify(token, types: types)
        try judge(verified.claims, now: now)
        return verified.claims
    }

    private func judge(_ claims: JWTClaims, now: Instant) throws(JWTFault) {
        try expectation.judge(claims, now: now)
        if let subjects {
            guard let subject = claims.subject, subjects.contains(ExactText(subject)) else { throw .claim("sub") }
        }
        for (path, text) in self.claims where !claims.text(at: path.string).isExactly(text) {
            throw .claim(path.string)
        }
    }
}
