internal import AssayKit

/// Why a JSON Web Key, or a set of them, is refused.
public enum JWKError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is not JSON of the right shape: a member is missing, of the wrong type, or not canonical base64url.
    case malformed(String)
    /// Its `kty`, `crv`, `alg` or size is none that is used here.
    case unsupported(String)
    /// Its numbers are no key.
    case invalidKey(CryptoError)
    /// It brings the private half along, which a public key document must never do.
    case containsPrivateKey
    /// It is for something else than the verification of signatures, by its `use` or its `key_ops`.
    case notForVerification(String)

    public static func == (left: JWKError, right: JWKError) -> Bool {
        left.description.isExactly(right.description)
    }

    public var description: String {
        switch self {
        case .malformed(let what): "malformed JWK: \(what)"
        case .unsupported(let what): "unsupported JWK: \(what)"
        case .invalidKey(let error): "invalid JWK: \(error)"
        case .containsPrivateKey: "the JWK contains a private key"
        case .notForVerification(let what): "the JWK is not for signatures: \(what)"
        }
    }
}
