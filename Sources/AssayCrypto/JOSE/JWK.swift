public import AssayCore

/// A public key as a JSON Web Key (RFC 7517; RFC 7518, section 6).
public struct JWK: Sendable, Hashable {
    /// The key.
    public let publicKey: PublicKey
    /// Its identifier, `kid`.
    @Exact public private(set) var keyID: String?
    /// The purpose of the key, `use`; `sig` for all keys of this service.
    @Exact public private(set) var use: String?
    /// The algorithm that it is for, `alg`.
    public let algorithm: JWSAlgorithm?

    /// The JWK of a key that signs tokens.
    public init(signing publicKey: PublicKey, keyID: String) {
        self.init(publicKey: publicKey, keyID: keyID, use: "sig", algorithm: JWSAlgorithm(for: publicKey))
    }

    /// The JWK of another party's key, whose key identifier is unknown.
    public init(_ publicKey: PublicKey) {
        self.init(publicKey: publicKey, keyID: nil, use: nil, algorithm: JWSAlgorithm(for: publicKey))
    }

    init(publicKey: PublicKey, keyID: String?, use: String?, algorithm: JWSAlgorithm?) {
        self.publicKey = publicKey
        self.keyID = keyID
        self.use = use
        self.algorithm = algorithm
    }

    /// The key in JSON: `kty`, `use`, `alg` and `kid`, then `n` and `e`, or `crv`, `x` and `y`.
    public var json: JSON {
        let parameters = parameters
        var members = parameters.filter { $0.name.isExactly("kty") }
        if let use { members.append(JSONMember("use", .string(use))) }
        if let algorithm { members.append(JSONMember("alg", .string(algorithm.rawValue))) }
        if let keyID { members.append(JSONMember("kid", .string(keyID))) }
        members += parameters.filter { !$0.name.isExactly("kty") }
        return .object(members)
    }

    /// The key's thumbprint with SHA-256 in unpadded base64url (RFC 7638): the same for the same key, whatever its
    /// `kid` is.
    public var thumbprint: String {
        let members = parameters.sorted { $0.name.precedesExactly($1.name) }
        return Base64.encodeURL(SHA256.hash(JSON.object(members).encoded))
    }

    /// The members that define the key.
    private var parameters: [JSONMember] {
        func member(_ name: String, _ bytes: some Collection<UInt8>) -> JSONMember {
            JSONMember(name, .string(Base64.encodeURL(bytes)))
        }
        switch publicKey {
        case .rsa(let key):
            return [JSONMember("kty", "RSA"), member("n", key.modulus), member("e", key.exponent)]
        case .ec(let key):
            let size = key.curve.coordinateSize
            return [
                JSONMember("kty", "EC"), JSONMember("crv", .string(key.curve.jwkName)),
                member("x", key.x963.dropFirst().prefix(size)), member("y", key.x963.suffix(size)),
            ]
        }
    }
}

/// Why a JSON Web Key, or a set of them, is refused.
@nonexhaustive public enum JWKError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is not JSON of the right shape: a member is missing, of the wrong type, or not canonical base64url.
    case malformed(String)
    /// Its `kty`, `crv`, `alg` or size is not supported.
    case unsupported(String)
    /// Its numbers are not a key.
    case invalidKey(CryptoError)
    /// It brings the private half along, which a public key document must never do.
    case containsPrivateKey
    /// Its `use` or its `key_ops` do not permit the verification of signatures.
    case notForVerification(String)

    /// Compares the descriptions by their UTF-8 bytes.
    public static func == (left: JWKError, right: JWKError) -> Bool {
        left.description.isExactly(right.description)
    }

    /// What is wrong with the key, for operators.
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
