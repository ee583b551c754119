/// The key of the device that a token was issued to (`cnf`, RFC 7800), by which the device proves its requests.
///
/// The device signs with it as an authenticator of WebAuthn does: the signed data names the app and has a counter.
public struct ConfirmationKey: Sendable, Hashable {
    /// The public key on P-256: `04 ‖ X ‖ Y`, 65 bytes.
    public let publicKey: [UInt8]
    /// SHA-256 of the name that the device signs for, such as an App ID of Apple: 32 bytes.
    public let relyingPartyHash: [UInt8]

    /// A key; nil when one of the two has another length or form.
    ///
    /// Whether the point is on the curve is found where the key is used.
    public init?(publicKey: [UInt8], relyingPartyHash: [UInt8]) {
        guard publicKey.count == 65, publicKey.first == 0x04, relyingPartyHash.count == 32 else { return nil }
        self.publicKey = publicKey
        self.relyingPartyHash = relyingPartyHash
    }

    /// Reads the claim `cnf`; nil for one of another form, as other issuers may have it.
    public init?(claim: JSON) {
        guard let jwk = claim["jwk"], jwk["kty"]?.string?.isExactly("EC") == true,
            jwk["crv"]?.string?.isExactly("P-256") == true, let x = Self.bytes(jwk["x"]), let y = Self.bytes(jwk["y"]),
            let hash = Self.bytes(claim["rp_id_hash"])
        else { return nil }
        self.init(publicKey: [0x04] + x + y, relyingPartyHash: hash)
    }

    /// The claim `cnf`: the key as a JWK, and the hash, in Base 64 URL.
    public var claim: JSON {
        // In bounds: every key has 65 bytes.
        [
            "jwk": [
                "kty": "EC", "crv": "P-256", "x": .string(Base64.encodeURL(publicKey[1..<33])),
                "y": .string(Base64.encodeURL(publicKey[33..<65])),
            ],
            "rp_id_hash": .string(Base64.encodeURL(relyingPartyHash)),
        ]
    }

    /// 32 bytes in Base 64 URL.
    private static func bytes(_ value: JSON?) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count == 43 else { return nil }
        return Base64.decodeURL(utf8: Array(text.utf8)[...])
    }
}
