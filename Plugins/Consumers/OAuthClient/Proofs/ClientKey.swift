public import AssayCrypto
public import AssayKit

/// The public key of a client instance, as it stands in `cnf` of an attestation and in the header of a DPoP proof.
public struct ClientKey: Sendable, Hashable {
    public let publicKey: PublicKey
    /// Its thumbprint (RFC 7638), by which tokens are bound to it: `jkt`.
    public let thumbprint: String

    public init(_ publicKey: PublicKey) {
        self.publicKey = publicKey
        thumbprint = JWK(publicKey).thumbprint
    }

    /// The members that only private or shared keys have (RFC 7518, section 6; `priv` of later kinds of keys).
    private static let privateMembers: Set = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"]

    /// A key from a JWK (RFC 7517): a public one, of a kind that goes with one of the algorithms, whose point lies on its
    /// curve.
    ///
    /// - Throws: ``Problem``.
    public init(jwk json: JSON, algorithms: Set<JWSAlgorithm>) throws(Problem) {
        guard let members = json.members else { throw Problem("it is no JSON object") }
        if let name = members.first(where: { ClientKey.privateMembers.contains($0.name) })?.name {
            throw Problem("it has the member `\(name)` of private keys")
        }
        let key: JWK
        do throws(JWKError) {
            key = try JWK(json)
        } catch {
            throw Problem("\(error)")
        }
        guard key.use.map({ $0 == "sig" }) ?? true else { throw Problem("it is not for signatures") }
        guard algorithms.contains(JWSAlgorithm(for: key.publicKey)) else {
            throw Problem("keys for \(JWSAlgorithm(for: key.publicKey).rawValue) are not taken")
        }
        self.init(key.publicKey)
    }

    /// What makes a JWK no key of a client.
    public struct Problem: Error, Sendable, Hashable {
        /// In words for an operator, without anything of the key.
        public let message: String

        init(_ message: String) {
            self.message = message
        }
    }

    /// The key as `cnf` has it: `kty` and the members that make it what it is, and no more.
    public var jwk: JSON {
        let own: Set = ["use", "alg", "kid"]
        return .object((JWK(publicKey).json.members ?? []).filter { !own.contains($0.name) })
    }

    /// `cnf` (RFC 7800, section 3.2).
    public var confirmation: JSON { ["jwk": jwk] }

    public static func == (left: ClientKey, right: ClientKey) -> Bool {
        left.publicKey == right.publicKey
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(thumbprint)
    }
}
