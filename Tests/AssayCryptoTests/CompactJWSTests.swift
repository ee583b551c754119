import AssayCore
import AssayCrypto
import Testing

@Suite struct CompactJWSTests {
    static func token(header: String, payload: String = "{}", signature: [UInt8] = [1]) -> [UInt8] {
        Array(
            [Array(header.utf8), Array(payload.utf8), signature].map { Base64.encodeURL($0) }.joined(separator: ".")
                .utf8)
    }

    @Test(
        "The examples of RFC 7515, appendices A.2 and A.3, verify with their keys",
        arguments: [
            (JOSEVectors.rs256Token, JOSEVectors.rs256Key, .rs256),
            (JOSEVectors.es256Token, JOSEVectors.es256Key, .es256),
        ] as [(String, String, JWSAlgorithm)])
    func published(_ text: String, _ keyText: String, _ algorithm: JWSAlgorithm) throws {
        let token = try CompactJWS.parse(utf8: Array(text.utf8)[...])
        let key = try JWK(JSON.parse(keyText.utf8)).publicKey
        #expect(token.header.algorithm == algorithm)
        #expect(token.header.keyID == nil && token.header.type == nil)
        #expect(String(decoding: token.payload, as: UTF8.self) == JOSEVectors.payload)
        #expect(throws: Never.self) { try token.verify(with: key) }
    }

    @Test("A key of another type or curve is a mismatch, whatever the header claims")
    func confusion() throws {
        let keys: [(JWSAlgorithm, PrivateKey)] = [
            (.rs256, try PrivateKey(pem: Array(TestPEM.rsaTraditional.utf8))), (.es256, try .generate(.ec(.p256))),
            (.es384, try .generate(.ec(.p384))),
        ]
        for (algorithm, signer) in keys {
            let text = try JWSSigner(key: signer, keyID: "k", algorithm: algorithm).sign(payload: [1])
            let token = try CompactJWS.parse(utf8: Array(text.utf8)[...])
            for (other, key) in keys {
                if other == algorithm {
                    #expect(throws: Never.self) { try token.verify(with: key.publicKey) }
                } else {
                    #expect(throws: JWSError.algorithmMismatch) { try token.verify(with: key.publicKey) }
                    #expect(throws: CryptoError(.unsupportedKey, "")) {
                        try JWSSigner(key: signer, keyID: "k", algorithm: other)
                    }
                }
            }
            let stranger = try PrivateKey.generate(signer.kind)
            #expect(throws: JWSError.badSignature) { try token.verify(with: stranger.publicKey) }
        }
    }

    @Test("A token signed with a public key's text as an HMAC secret is unsupported, and so is none")
    func symmetric() throws {
        let input = Self.token(header: "{\"alg\":\"HS256\",\"kid\":\"k\"}").split(separator: UInt8(ascii: "."))
        let signed = input[0] + [UInt8(ascii: ".")] + input[1]
        let code = HMACSHA256(key: TestPEM.rsaPublic.utf8).authenticate(signed)
        let token = signed + [UInt8(ascii: ".")] + Base64.encodeURL(code).utf8
        #expect(throws: JWSError.unsupportedAlgorithm) { try CompactJWS.parse(utf8: token) }
    }

    @Test(
        "Algorithms that are not used here are unsupported, in any spelling",
        arguments: ["none", "None", "NONE", "", "HS256", "RS512", "PS256", "ES512", "EdDSA", "rs256", "RS256 "])
    func unsupported(_ algorithm: String) {
        let token = Self.token(header: "{\"alg\":\"\(algorithm)\"}")
        #expect(throws: JWSError.unsupportedAlgorithm) { try CompactJWS.parse(utf8: token[...]) }
    }

    @Test(
        "A header that is not one JSON object of the right members is malformed",
        arguments: [
            "", "[]", "1", "null", "\"RS256\"", "{}", "{\"alg\":1}", "{\"alg\":null}", "{\"alg\":\"RS256\"",
            "{\"alg\":\"RS256\"}x", "{\"alg\":\"RS256\",\"alg\":\"RS256\"}",
            "{\"alg\":\"RS256\",\"\\u0061lg\":\"none\"}",
            "{\"alg\":\"RS256\",\"kid\":1}", "{\"alg\":\"RS256\",\"typ\":[]}", "{\"kid\":\"k\"}",
            "{\"alg\":\"RS256\",\"x\":\(String(repeating: "[", count: 50))\(String(repeating: "]", count: 50))}",
        ])
    func headers(_ header: String) {
        let token = Self.token(header: header)
        #expect(throws: JWSError.malformed(.header)) { try CompactJWS.parse(utf8: token[...]) }
    }

    @Test(
        "A header with crit is refused, whatever it lists (RFC 7515, section 4.1.11)",
        arguments: ["[\"exp\"]", "[]", "[\"b64\"]", "null", "\"x\""])
    func critical(_ value: String) {
        let token = Self.token(header: "{\"alg\":\"RS256\",\"crit\":\(value)}")
        #expect(throws: JWSError.malformed(.critical)) { try CompactJWS.parse(utf8: token[...]) }
    }

    @Test(
        "A token that is not three parts of unpadded base64url is malformed",
        arguments: [
            ("", .parts), ("a", .parts), ("a.b", .parts), ("..", .header), ("a.b.c.d", .parts), ("a.b.c.", .parts),
            (".eyJ9.AA", .header), ("eyJhbGciOiJSUzI1NiJ9=.e30.AA", .encoding), ("e30=.e30.AA", .encoding),
            ("eyJhbGciOiJSUzI1NiJ9.e30=.AA", .encoding), ("eyJhbGciOiJSUzI1NiJ9.e30.AA==", .encoding),
            ("eyJhbGciOiJSUzI1NiJ9.e30.AB", .encoding), ("eyJhbGciOiJSUzI1NiJ9.e30.A", .encoding),
            ("eyJhbGciOiJSUzI1NiJ9.e+0.AA", .encoding), ("eyJhbGciOiJSUzI1NiJ9.e30.A/A", .encoding),
            (" eyJhbGciOiJSUzI1NiJ9.e30.AA", .encoding), ("eyJhbGciOiJSUzI1NiJ9.e30.AA\n", .encoding),
        ] as [(String, JWSError.Defect)])
    func malformed(_ text: String, _ defect: JWSError.Defect) {
        #expect(throws: JWSError.malformed(defect)) { try CompactJWS.parse(utf8: Array(text.utf8)[...]) }
    }

    @Test("A token of 16 KiB is looked at, and one byte more is not")
    func size() throws {
        let head = Array("eyJhbGciOiJSUzI1NiJ9.".utf8)
        func token(_ count: Int) -> [UInt8] {
            head + [UInt8](repeating: UInt8(ascii: "A"), count: count - head.count - 3) + Array(".AA".utf8)
        }
        // The payload's length is chosen so that it is one of base64url.
        #expect(throws: Never.self) { try CompactJWS.parse(utf8: token(16_384)[...]) }
        #expect(throws: JWSError.malformed(.tooLarge)) { try CompactJWS.parse(utf8: token(16_385)[...]) }
    }
}
