/// The signature algorithms of tokens (RFC 7518, section 3.1). There is no `none`.
public enum JWSAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// ECDSA on P-384 with SHA-384.
    case es384 = "ES384"

    /// The one algorithm that goes with a key: a header cannot choose another.
    public init(for key: PublicKey) {
        switch key {
        case .rsa: self = .rs256
        case .ec(let key):
            switch key.curve {
            case .p256: self = .es256
            case .p384: self = .es384
            }
        }
    }

    var digest: DigestAlgorithm {
        switch self {
        case .rs256, .es256: .sha256
        case .es384: .sha384
        }
    }
}
