internal import AssayKit
internal import AssayVerifier

/// Verifies tokens by one set of keys, and remembers those whose signature is good.
///
/// Backends ask about one token at every request of its client. What is remembered is that a key of this set signed it; its
/// claims are judged each time, and with the keys the memory goes.
struct CachingTokenVerifier: Sendable {
    private let verifier: TokenVerifier
    private let cache: VerifiedTokenCache

    /// Some 4 MB when it is full.
    private static let limit = 8192

    init(_ verifier: TokenVerifier) {
        self.verifier = verifier
        cache = VerifiedTokenCache(limit: CachingTokenVerifier.limit)
    }

    func verify(_ token: String, _ expectation: TokenVerifier.Expectation, now: Instant) -> TokenVerifier.Outcome {
        let digest = TokenDigest(of: token)
        if let known = cache.token(digest) { return TokenVerifier.judge(known, expectation, now: now) }
        let outcome = verifier.verify(token, expectation, now: now)
        if case .verified(let verified) = outcome { cache.insert(verified, digest) }
        return outcome
    }

    /// The type and the claims of any JWT that one of the keys signed; nil for all others.
    func signed(_ token: String) -> (type: String, claims: JSON)? {
        verifier.signed(token)
    }
}
