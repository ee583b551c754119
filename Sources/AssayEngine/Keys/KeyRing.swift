internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy

/// All keys of a service, the newest of each kind first. Immutable: a change makes another ring.
struct KeyRing: Sendable {
    /// How long a key stays published when another one took its place: the longest life of a token, and a day for
    /// servers that share the keys and are not all started anew at once.
    static let publication = Duration.seconds(8 * 86_400)

    var signing: [SigningKey]
    /// The first one seals; every one opens, for ever.
    var sealing: [SealingKey]

    /// The key that signs by a policy; nil when there is none of its kind.
    func signer(for policy: TokenPolicy) -> SigningKey? {
        signing.first { $0.retired == nil && $0.fits(policy) }
    }

    /// The keys that may verify a living token.
    func published(at now: Instant) -> [SigningKey] {
        signing.filter { key in
            guard let retired = key.retired else { return true }
            return now < retired + KeyRing.publication
        }
    }

    /// This ring with what a policy needs and it lacks; nil when it lacks nothing.
    func completed(for policy: TokenPolicy, now: Instant, randomness: Randomness) throws(CryptoError) -> KeyRing? {
        guard signer(for: policy) == nil || sealing.isEmpty else { return nil }
        var ring = self
        if sealing.isEmpty { ring = try ring.addingSealingKey(now: now, randomness: randomness) }
        if signer(for: policy) == nil {
            for index in ring.signing.indices where ring.signing[index].retired == nil {
                ring.signing[index].retired = now
            }
            var key = try SigningKey.generate(policy, now: now)
            while ring.signing.contains(where: { $0.id == key.id }) { key = try SigningKey.generate(policy, now: now) }
            ring.signing.insert(key, at: 0)
        }
        return ring
    }

    /// This ring with a fresh sealing key, which seals from now on.
    func addingSealingKey(now: Instant, randomness: Randomness) throws(CryptoError) -> KeyRing {
        var key = try SealingKey.generate(now: now, randomness: randomness)
        while sealing.contains(where: { $0.id == key.id }) {
            key = try SealingKey.generate(now: now, randomness: randomness)
        }
        var ring = self
        ring.sealing.insert(key, at: 0)
        return ring
    }
}

/// A key that signs tokens.
struct SigningKey: Sendable {
    /// The `kid`: the first four bytes of the key's thumbprint (RFC 7638), six characters, as in Google's tokens.
    let id: String
    let algorithm: JWSAlgorithm
    let key: PrivateKey
    let created: Instant
    /// When another key took its place.
    var retired: Instant?

    init(algorithm: JWSAlgorithm, key: PrivateKey, created: Instant, retired: Instant? = nil) throws(CryptoError) {
        let thumbprint = Base64.decode(JWK(signing: key.publicKey, keyID: "").thumbprint) ?? []
        id = Base64.encodeURL(thumbprint.prefix(4))
        self.algorithm = algorithm
        self.key = key
        self.created = created
        self.retired = retired
    }

    static func generate(_ policy: TokenPolicy, now: Instant) throws(CryptoError) -> SigningKey {
        switch policy.algorithm {
        case .rs256:
            try SigningKey(algorithm: .rs256, key: .generate(.rsa(bits: policy.rsaBits)), created: now)
        case .es256:
            try SigningKey(algorithm: .es256, key: .generate(.ec(.p256)), created: now)
        }
    }

    func fits(_ policy: TokenPolicy) -> Bool {
        switch policy.algorithm {
        case .rs256: algorithm == .rs256 && key.kind == .rsa(bits: policy.rsaBits)
        case .es256: algorithm == .es256 && key.kind == .ec(.p256)
        }
    }

    /// The public half, as the key set publishes it.
    var jwk: JWK { JWK(signing: key.publicKey, keyID: id) }

    /// What signs tokens with it.
    func signer() throws(CryptoError) -> JWSSigner {
        try JWSSigner(key: key, keyID: id, algorithm: algorithm)
    }
}
