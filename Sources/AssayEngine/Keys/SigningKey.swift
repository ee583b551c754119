internal import AssayCore
package import AssayCrypto
package import AssayPolicy

/// What makes the signing keys of a ring.
package struct SigningKeyMaker: Sendable {
    /// Makes new keys.
    package static let fresh = SigningKeyMaker { _, _ in nil }

    /// A ready RSA key by its size and its number in the ring; nil for a new one.
    package let ready: @Sendable (_ bits: Int, _ number: Int) throws(CryptoError) -> PrivateKey?

    package init(ready: @escaping @Sendable (_ bits: Int, _ number: Int) throws(CryptoError) -> PrivateKey?) {
        self.ready = ready
    }

    package func key(of kind: TokenPolicy, _ times: KeyTimes, number: Int) throws(CryptoError) -> SigningKey {
        guard kind.algorithm == .rs256, let key = try ready(kind.rsaBits, number) else {
            return try .generate(kind, times: times)
        }
        return try SigningKey(algorithm: .rs256, key: key, times: times)
    }
}

/// A key that signs tokens.
package struct SigningKey: RingKey {
    /// The `kid`: the first four bytes of the key's thumbprint (RFC 7638), as six characters, like in Google's tokens.
    package let id: String
    package let algorithm: JWSAlgorithm
    package let key: PrivateKey
    package var times: KeyTimes

    package init(algorithm: JWSAlgorithm, key: PrivateKey, times: KeyTimes) throws(CryptoError) {
        let thumbprint = Base64.decode(JWK(signing: key.publicKey, keyID: "").thumbprint) ?? []
        id = Base64.encodeURL(thumbprint.prefix(4))
        self.algorithm = algorithm
        self.key = key
        self.times = times
    }

    package static func generate(_ kind: TokenPolicy, times: KeyTimes) throws(CryptoError) -> SigningKey {
        switch kind.algorithm {
        case .rs256:
            try SigningKey(algorithm: .rs256, key: .generate(.rsa(bits: kind.rsaBits)), times: times)
        case .es256:
            try SigningKey(algorithm: .es256, key: .generate(.ec(.p256)), times: times)
        }
    }

    package var name: String { "the signing key \(id)" }

    package func fits(_ policy: TokenPolicy) -> Bool {
        switch policy.algorithm {
        case .rs256: algorithm == .rs256 && key.kind == .rsa(bits: policy.rsaBits)
        case .es256: algorithm == .es256 && key.kind == .ec(.p256)
        }
    }

    /// The parameters for another key like this one.
    package var kind: TokenPolicy {
        if case .rsa(let bits) = key.kind { return TokenPolicy(algorithm: .rs256, rsaBits: bits) }
        return TokenPolicy(algorithm: .es256)
    }

    /// The public key, as the key set publishes it.
    package var jwk: JWK { JWK(signing: key.publicKey, keyID: id) }

    /// The signer of tokens with this key.
    package func signer() throws(CryptoError) -> JWSSigner {
        try JWSSigner(key: key, keyID: id, algorithm: algorithm)
    }
}
