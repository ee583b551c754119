internal import AssayCore
internal import AssayCrypto
internal import AssayPolicy
internal import AssayVerifier

/// What a ring means to calls: which key signs and which seals at a time, and which are published then.
///
/// It is made once for a ring; a call only compares times. So a key begins to sign at its exact time and leaves the key
/// set when it has expired, without any further action.
final class KeyPlan: Sendable {
    let ring: KeyRing
    /// The sealing keys that open what they sealed.
    let openers: [SealingKey]
    private let issuers: Timeline<TokenIssuer>
    private let sealers: Timeline<SealingKey>
    private let verifiers: Timeline<CachingTokenVerifier>
    private let published: [(key: JSON, until: Instant?)]

    /// - Throws: ``KeyError`` when none of the keys can sign, or none can seal.
    init(_ ring: KeyRing) throws(KeyError) {
        var issuers: [(from: Instant, element: TokenIssuer)] = []
        for index in ring.signing.succession {
            let key = ring.signing[index]
            let signer = try KeyError.explaining { () throws(CryptoError) in try key.signer() }
            issuers.append((key.times.begins ?? key.times.ready, TokenIssuer(signer: signer)))
        }
        guard let issuers = Timeline(issuers) else { throw KeyError("the signing key is missing") }
        let sealers = ring.sealing.succession.map { index in
            let key = ring.sealing[index]
            return (from: key.times.begins ?? key.times.ready, element: key)
        }
        guard let sealers = Timeline(sealers) else { throw KeyError("the sealing key is missing") }
        self.ring = ring
        openers = ring.openers
        self.issuers = issuers
        self.sealers = sealers
        let trusted = ring.published
        let ends = Set(trusted.compactMap(\.until)).sorted()
        let verifiers = ([Instant(seconds: 0)] + ends).map { from in
            let keys = trusted.filter { entry in entry.until.map { from < $0 } ?? true }.map(\.key)
            return (from: from, element: CachingTokenVerifier(TokenVerifier(keys: JWKSet(keys))))
        }
        guard let verifiers = Timeline(verifiers) else { throw KeyError("the signing key is missing") }
        self.verifiers = verifiers
        published = trusted.map { ($0.key.json, $0.until) }
    }

    /// What signs tokens at a time.
    func issuer(at now: Instant) -> TokenIssuer { issuers.element(at: now) }

    /// What verifies tokens at a time: by the keys that are published then.
    func verifier(at now: Instant) -> CachingTokenVerifier { verifiers.element(at: now) }

    /// What seals artifacts and authenticates challenges at a time.
    func sealingKey(at now: Instant) -> SealingKey { sealers.element(at: now) }

    /// The tags of attesters that the `jti` of a token may carry: one for each sealing key, of which at most one is not random.
    func attesterTags(of tokenID: String) -> [AttesterTag] {
        guard let id = Base64.decodeURL(utf8: Array(tokenID.utf8)[...]) else { return [] }
        return ring.sealing.compactMap { $0.attester(of: id) }
    }

    /// Whether the plan has a sealing key with an identifier, a revoked one included.
    func knows(_ id: [UInt8]) -> Bool { ring.sealing.contains { $0.id == id } }

    /// Why nothing opens that a sealing key has sealed, for records; nil unless the key is revoked.
    func revocation(of id: [UInt8]) -> String? {
        ring.sealing.first { $0.id == id }.flatMap { key in
            key.times.revoked.map { "\(key.name), which it was made with, was revoked at \($0)" }
        }
    }

    /// The key set at a time (RFC 7517, section 5): those that sign, those that are to sign, and those whose tokens may
    /// be alive.
    func keySet(at now: Instant) -> JSON {
        .object([
            "keys": .array(published.filter { entry in entry.until.map { now < $0 } ?? true }.map(\.key))
        ])
    }
}

/// Values that replace each other at known times, looked up for every call.
struct Timeline<Element: Sendable>: Sendable {
    private let first: Element
    /// The elements after the first one, in order of time.
    private let later: [(from: Instant, element: Element)]

    /// - Parameter entries: in order of time; the first one also applies before its time. Nil when there are none.
    init?(_ entries: [(from: Instant, element: Element)]) {
        guard let first = entries.first else { return nil }
        self.first = first.element
        later = Array(entries.dropFirst())
    }

    func element(at now: Instant) -> Element {
        later.last { $0.from <= now }?.element ?? first
    }
}

/// Verifies tokens by one set of keys, and remembers the tokens whose signature is valid.
///
/// Backends ask about the same token at every request of its client. Only the fact that a key of this set signed it is
/// remembered; its claims are judged each time. A new set of keys starts with an empty memory.
struct CachingTokenVerifier: Sendable {
    private let verifier: TokenVerifier
    private let cache: VerifiedTokenCache

    /// About 4 MB when it is full.
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
