internal import AssayCore

/// The curves that are used here: P-256 for devices and tokens, P-384 for Apple's certification authorities.
@nonexhaustive public enum EllipticCurve: Sendable, Hashable, CaseIterable {
    /// NIST P-256 (secp256r1, prime256v1).
    case p256
    /// NIST P-384 (secp384r1).
    case p384

    /// The length of a coordinate, and of each half of a raw signature, in bytes.
    public var coordinateSize: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        }
    }

    /// The curve's name in a JWK (RFC 7518, section 6.2.1.1).
    public var jwkName: String {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        }
    }

    /// The curve's name in OpenSSL.
    var groupName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        }
    }

    init?(groupName: String) {
        if ["prime256v1", "P-256"].contains(exactly: groupName) {
            self = .p256
        } else if ["secp384r1", "P-384"].contains(exactly: groupName) {
            self = .p384
        } else {
            return nil
        }
    }
}

/// The kinds of key that are generated and imported.
@nonexhaustive public enum KeyKind: Sendable, Hashable, CustomStringConvertible {
    /// RSA with a modulus of a number of bits.
    case rsa(bits: Int)
    /// A key on an elliptic curve.
    case ec(EllipticCurve)

    /// The kind as text: `RSA-2048`, `P-256`.
    public var description: String {
        switch self {
        case .rsa(let bits): "RSA-\(bits)"
        case .ec(let curve): curve.jwkName
        }
    }
}

/// How an ECDSA signature is spelled; RSA signatures have one form only.
@nonexhaustive public enum SignatureForm: Sendable, Hashable {
    /// A DER SEQUENCE of `r` and `s` (RFC 3279, section 2.2.3), as in certificates and assertions.
    case der
    /// `r ‖ s`, each as long as a coordinate (RFC 7518, section 3.4), as in tokens.
    case raw
}

/// How a signature is made: the kind of key, the padding and the digest.
@nonexhaustive public enum SignatureAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// ECDSA (FIPS 186-5, section 6).
    case ecdsa(DigestAlgorithm)
    /// RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2).
    case rsaPKCS1(DigestAlgorithm)
    /// RSASSA-PSS with MGF1 over the same digest and a salt as long as the digest (RFC 8017, section 8.1).
    case rsaPSS(DigestAlgorithm)

    /// The digest of the message.
    public var digest: DigestAlgorithm {
        switch self {
        case .ecdsa(let digest), .rsaPKCS1(let digest), .rsaPSS(let digest): digest
        }
    }

    /// The name for logs, such as `ECDSA with SHA-256`.
    public var description: String {
        switch self {
        case .ecdsa(let digest): "ECDSA with \(digest)"
        case .rsaPKCS1(let digest): "RSA PKCS #1 v1.5 with \(digest)"
        case .rsaPSS(let digest): "RSA PSS with \(digest)"
        }
    }
}
