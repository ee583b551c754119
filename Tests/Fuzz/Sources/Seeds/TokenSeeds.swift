import AssayCore
import AssayCrypto
internal import AssayKit
import Fuzz

/// Tokens, each with the key set to verify it with; the keys were made for it, and are thrown away.
enum TokenSeeds {
    static func all() throws -> [Seed] {
        let p256 = try PrivateKey.generate(.ec(.p256))
        let p384 = try PrivateKey.generate(.ec(.p384))
        let rsa = try PrivateKey.generate(.rsa(bits: 2048))
        let keys = JWKSet([
            JWK(signing: p256.publicKey, keyID: "p256"), JWK(signing: p384.publicKey, keyID: "p384"),
            JWK(signing: rsa.publicKey, keyID: "rsa"),
        ])
        let document = keys.json.encoded
        func token(_ key: PrivateKey, _ keyID: String, _ algorithm: JWSAlgorithm) throws -> [UInt8] {
            Array(try JWSSigner(key: key, keyID: keyID, algorithm: algorithm).sign(payload: claims.encoded).utf8)
        }
        func seed(_ name: String, _ token: [UInt8], _ keys: [UInt8]? = nil) -> Seed {
            Seed(.token, name, token + [UInt8(ascii: "\n")] + (keys ?? document))
        }
        let es256 = try token(p256, "p256", .es256)
        let unlisted: JSON = [
            "keys": [["kty": "OKP", "crv": "Ed25519"], JWK(signing: p256.publicKey, keyID: "p256").json]
        ]
        let zeros = String(repeating: "A", count: 43)
        return [
            seed("good-es256", es256),
            seed("good-rs256", try token(rsa, "rsa", .rs256)),
            seed("good-header-in-another-order", try reordered(p256)),
            seed("good-unknown-key-type", es256, unlisted.encoded),
            seed("good-es384", try token(p384, "p384", .es384)),
            seed("bad-token_key_unknown", try token(p256, "other", .es256)),
            seed("bad-token_signature", es256.dropLast(4) + Array("AAAA".utf8)),
            seed("bad-token_algorithm", try token(p384, "p256", .es384)),
            seed("bad-token_malformed-four-parts", es256 + Array(".".utf8)),
            seed("bad-token_malformed-encoding", es256 + Array("=".utf8)),
            seed("bad-token_placeholder", Array("eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==".utf8)),
            seed(
                "bad-token_key_unknown-no-point", es256,
                Array(#"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(zeros)","y":"\#(zeros)"}]}"#.utf8)),
            seed("bad-token_key_unknown-private-key", es256, Array(#"{"keys":[{"kty":"EC","d":"AA"}]}"#.utf8)),
        ]
    }

    private static let claims: JSON = [
        "sub": "1:1234567890:ios:321abc456def7890", "aud": ["projects/1234567890", .string(FuzzScene.audience)],
        "provider": "app_attest", "iss": .string(FuzzScene.issuer), "exp": .integer(FuzzScene.now.seconds + 3600),
        "iat": .integer(FuzzScene.now.seconds), "jti": "an identifier",
    ]

    /// A token whose header is not the one that Assay's signers write, so that it must be parsed.
    private static func reordered(_ key: PrivateKey) throws -> [UInt8] {
        let header = Base64.encodeURL(Array(#"{ "alg":"ES256", "typ":"JWT", "kid":"p\u0032\u0035\u0036" }"#.utf8))
        let input = "\(header).\(Base64.encodeURL(claims.encoded))"
        let signature = try key.sign(Array(input.utf8), as: .raw)
        return Array("\(input).\(Base64.encodeURL(signature))".utf8)
    }
}
