public import AssayCore
public import AssayCrypto

/// The public key of a client instance, as `cnf` of an attestation and the header of a DPoP proof have it.
public struct ClientKey: Sendable, Hashable {
    /// The public key.
    public let publicKey: PublicKey
    /// Its thumbprint (RFC 7638), by which tokens are bound to it: `jkt`.
    @Exact public private(set) var thumbprint: String

    /// Makes a client key from a public key, and computes its thumbprint.
    public init(_ publicKey: PublicKey) {
        self.publicKey = publicKey
        thumbprint = JWK(publicKey).thumbprint
    }

    /// A key from a JWK (RFC 7517): a public key whose kind matches one of the algorithms, and whose point is on its
    /// curve.
    ///
    /// - Throws: ``Problem``.
    public init(jwk json: JSON, algorithms: Set<JWSAlgorithm>) throws(Problem) {
        guard json.members != nil else { throw Problem("it is not a JSON object") }
        if let name = JWK.privateMember(of: json) { throw Problem("it has the member `\(name)` of private keys") }
        let key: JWK
        do throws(JWKError) {
            key = try JWK(json)
        } catch {
            throw Problem("\(error)")
        }
        guard key.use?.isExactly("sig") ?? true else { throw Problem("it is not for signatures") }
        guard algorithms.contains(JWSAlgorithm(for: key.publicKey)) else {
            throw Problem("keys for \(JWSAlgorithm(for: key.publicKey).rawValue) are not accepted")
        }
        self.init(key.publicKey)
    }

    /// What makes a JWK no key of a client.
    public struct Problem: Error, Sendable, Hashable {
        /// In words for an operator, without anything of the key.
        @Exact public private(set) var message: String

        init(_ message: String) {
            self.message = message
        }
    }

    /// The key in `cnf`: only `kty` and the members that define it.
    public var jwk: JSON {
        let own = ["use", "alg", "kid"]
        return .object((JWK(publicKey).json.members ?? []).filter { !own.contains(exactly: $0.name) })
    }

    /// `cnf` (RFC 7800, section 3.2).
    public var confirmation: JSON { ["jwk": jwk] }

    /// Keys are equal when their thumbprints are.
    public static func == (left: ClientKey, right: ClientKey) -> Bool {
        left.publicKey == right.publicKey
    }

    /// Hashes the thumbprint.
    public func hash(into hasher: inout Hasher) {
        thumbprint.hashExactly(into: &hasher)
    }
}
