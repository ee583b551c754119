public import AssayKit

extension JWK {
    /// A key from JSON; members that mean nothing here are ignored.
    ///
    /// - Throws: ``JWKError``: `unsupported` for a `kty`, `crv`, `alg` or RSA size that is not used here, `malformed` for
    ///   missing or non-canonical members and for an `alg` that does not go with the key, `invalidKey` for numbers that are no
    ///   key, `containsPrivateKey` when `d` is there.
    public init(_ json: JSON) throws(JWKError) {
        guard let members = json.members else { throw .malformed("not an object") }
        guard Set(members.map(\.name)).count == members.count else { throw .malformed("a member is there twice") }
        guard json["d"] == nil else { throw .containsPrivateKey }
        let publicKey: PublicKey
        switch try Self.text("kty", of: json) {
        case "RSA": publicKey = try Self.rsaKey(json)
        case "EC": publicKey = try Self.ecKey(json)
        case nil: throw .malformed("no kty")
        default: throw .unsupported("kty")
        }
        var algorithm: JWSAlgorithm?
        if let name = try Self.text("alg", of: json) {
            guard let known = JWSAlgorithm(rawValue: name) else { throw .unsupported("alg") }
            guard known == JWSAlgorithm(for: publicKey) else { throw .malformed("alg does not go with the key") }
            algorithm = known
        }
        self.init(
            publicKey: publicKey, keyID: try Self.text("kid", of: json), use: try Self.text("use", of: json),
            algorithm: algorithm)
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
        guard let curve = EllipticCurve.allCases.first(where: { $0.jwkName == name }) else {
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
