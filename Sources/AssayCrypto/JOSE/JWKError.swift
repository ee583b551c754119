/// Why a JSON Web Key, or a set of them, is refused.
public enum JWKError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is not JSON of the right shape: a member is missing, of the wrong type, or not canonical base64url.
    case malformed(String)
    /// Its `kty`, `crv`, `alg` or size is none that is used here; a set skips such keys (RFC 7517, section 5).
    case unsupported(String)
    /// Its numbers are no key.
    case invalidKey(CryptoError)
    /// It brings the private half along, which a public key document must never do.
    case containsPrivateKey

    public var description: String {
        switch self {
        case .malformed(let what): "malformed JWK: \(what)"
        case .unsupported(let what): "unsupported JWK: \(what)"
        case .invalidKey(let error): "invalid JWK: \(error)"
        case .containsPrivateKey: "the JWK contains a private key"
        }
    }
}
