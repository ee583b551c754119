public import AssayCore

extension JWK {
    /// The members that only private and symmetric keys have (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1; `priv` of the
    /// key type AKP).
    private static let privateMembers: [String] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"]

    /// The first member of a JWK that only private and symmetric keys have; nil when the JWK has none.
    public static func privateMember(of json: JSON) -> String? {
        (json.members ?? []).lazy.compactMap { member in privateMembers.first { $0.isExactly(member.name) } }.first
    }

    /// A key from JSON; members that mean nothing here are ignored.
    ///
    /// - Throws: ``JWKError``: `unsupported` for a `kty`, `crv`, `alg` or RSA size that is not supported, `malformed`
    ///   for missing or non-canonical members and for an `alg` that does not match the key, `invalidKey` for numbers
    ///   that are not a key, or a weak one (``RSAPublicKey``), `containsPrivateKey` when a member of a private key is
    ///   present, `notForVerification` when `key_ops` lacks `verify`. The caller must check `use`.
    public init(_ json: JSON) throws(JWKError) {
        guard let members = json.members else { throw .malformed("not an object") }
        guard Set(members.lazy.map { ExactText($0.name) }).count == members.count else {
            throw .malformed("a member is present twice")
        }
        guard Self.privateMember(of: json).isNil else { throw .containsPrivateKey }
        try Self.checkOperations(of: json)
        guard let type = try Self.text("kty", of: json) else { throw .malformed("no kty") }
        let publicKey: PublicKey
        if type.isExactly("RSA") {
            publicKey = try Self.rsaKey(json)
        } else if type.isExactly("EC") {
            publicKey = try Self.ecKey(json)
        } else {
            throw .unsupported("kty")
        }
        var algorithm: JWSAlgorithm?
        if let name = try Self.text("alg", of: json) {
            guard let known = JWSAlgorithm(exactly: name) else { throw .unsupported("alg") }
            guard known == JWSAlgorithm(for: publicKey) else { throw .malformed("alg does not go with the key") }
            algorithm = known
        }
        self.init(
            publicKey: publicKey, keyID: try Self.text("kid", of: json), use: try Self.text("use", of: json),
            algorithm: algorithm)
    }

    /// `key_ops`, if present, lists different operations (RFC 7517, section 4.3), of which one is `verify`.
    private static func checkOperations(of json: JSON) throws(JWKError) {
        guard let value = json["key_ops"] else { return }
        guard let elements = value.array else { throw .malformed("key_ops is not an array") }
        var operations: Set<ExactText> = []
        for element in elements {
            guard let text = element.string else { throw .malformed("key_ops contains values other than strings") }
            guard operations.insert(ExactText(text)).inserted else { throw .malformed("key_ops repeats an operation") }
        }
        guard operations.contains("verify") else { throw .notForVerification("its key_ops lacks verify") }
    }

    private static func rsaKey(_ json: JSON) throws(JWKError) -> PublicKey {
        let modulus = try bytes("n", of: json)
        let exponent = try bytes("e", of: json)
        guard modulus.first != 0, exponent.first != 0 else {
            throw .malformed("a number with leading zeros (RFC 7518, section 2, Base64urlUInt)")
        }
        do throws(CryptoError) {
            return .rsa(try RSAPublicKey(modulus: modulus, exponent: exponent))
        } catch {
            if error.code == .unsupportedKey { throw .unsupported("RSA key of this size") }
            throw .invalidKey(error)
        }
    }

    private static func ecKey(_ json: JSON) throws(JWKError) -> PublicKey {
        guard let name = try text("crv", of: json) else { throw .malformed("no crv") }
        guard let curve = EllipticCurve.allCases.first(where: { $0.jwkName.isExactly(name) }) else {
            throw .unsupported("crv")
        }
        let x = try bytes("x", of: json)
        let y = try bytes("y", of: json)
        guard x.count == curve.coordinateSize, y.count == curve.coordinateSize else {
            throw .malformed("a coordinate must have \(curve.coordinateSize) bytes (RFC 7518, section 6.2.1.2)")
        }
        do throws(CryptoError) {
            return .ec(try ECPublicKey(curve: curve, x963: [0x04] + x + y))
        } catch {
            throw .invalidKey(error)
        }
    }

    private static func bytes(_ name: String, of json: JSON) throws(JWKError) -> [UInt8] {
        guard let text = try text(name, of: json) else { throw .malformed("no \(name)") }
        guard let bytes = Base64.decodeURL(utf8: Array(text.utf8)[...]) else {
            throw .malformed("\(name) is not unpadded base64url")
        }
        return bytes
    }

    private static func text(_ name: String, of json: JSON) throws(JWKError) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.string else { throw .malformed("\(name) is not a string") }
        return text
    }
}
