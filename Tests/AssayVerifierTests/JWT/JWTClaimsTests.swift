import AssayCore
import AssayCrypto
import AssayVerifier
import Testing

@Suite("Claims of a JWT")
struct JWTClaimsTests {
    private func claims(_ json: String) throws -> JWTClaims { try JWTClaims(payload: Array(json.utf8)) }

    @Test("Registered claims are read as what they are, and the others stay as JSON")
    func registered() throws {
        let claims = try claims(
            """
            {"iss": "i", "sub": "s", "jti": "j", "aud": ["a", "b"], "exp": 3, "nbf": 1.5, "iat": 2, "role": {"name": "x"}}
            """)
        #expect(claims.issuer.isExactly("i") && claims.subject.isExactly("s") && claims.id.isExactly("j"))
        #expect(claims.audience == ["a", "b"])
        #expect(claims.expires == Instant(seconds: 3))
        #expect(claims.notBefore == Instant(milliseconds: 1500))
        #expect(claims.issued == Instant(seconds: 2))
        #expect(claims.json["role"] == ["name": "x"])
    }

    @Test("All of them may be absent, and one audience is a list of one")
    func absent() throws {
        let none = try claims("{}")
        #expect(none.issuer.isNil && none.subject.isNil && none.id.isNil && none.audience.isEmpty)
        #expect(none.expires == nil && none.notBefore == nil && none.issued == nil)
        #expect(try claims(#"{"aud": "a"}"#).audience == ["a"])
    }

    @Test(
        "A registered claim of another type makes the whole token malformed",
        arguments: [
            "", "[]", "\"a\"", "null", "{", #"{"iss": 1}"#, #"{"sub": null}"#, #"{"jti": ["a"]}"#, #"{"aud": 1}"#,
            #"{"aud": ["a", 1]}"#, #"{"aud": {}}"#, #"{"exp": "3"}"#, #"{"exp": null}"#, #"{"nbf": true}"#,
            #"{"iat": -1}"#, #"{"iat": -0.5}"#, #"{"exp": 1e300}"#, #"{"exp": 253402300800}"#,
            #"{"exp": 9223372036854775807}"#, #"{"sub": "a", "sub": "a"}"#, #"{"a": {"b": 1, "b": 2}}"#,
        ])
    func malformed(_ json: String) {
        #expect(throws: JWTFault.malformed) { try claims(json) }
    }

    @Test("The last second that a date can have is read, and so is the first")
    func bounds() throws {
        #expect(try claims(#"{"exp": 253402300799}"#).expires == Instant(seconds: 253_402_300_799))
        #expect(try claims(#"{"exp": 0}"#).expires == Instant(seconds: 0))
        #expect(try claims(#"{"exp": 0.0}"#).expires == Instant(seconds: 0))
    }

    @Test("A payload of more than 16 KiB, or too deep, is malformed whatever is in it")
    func large() {
        let long = #"{"a": "\#(String(repeating: "x", count: 16_384))"}"#
        let deep = #"{"a": \#(String(repeating: "[", count: 17))\#(String(repeating: "]", count: 17))}"#
        for json in [long, deep] { #expect(throws: JWTFault.malformed) { try claims(json) } }
    }

    @Test("A claim within others is found by its path, and what is no text is not found")
    func paths() throws {
        let claims = try claims(#"{"a": {"b": {"c": "deep"}}, "n": 1, "t": "text"}"#)
        #expect(claims.text(at: "a.b.c").isExactly("deep"))
        #expect(claims.text(at: "t").isExactly("text"))
        for path in ["a", "a.b", "n", "t.x", "a.b.c.d", "none", ""] { #expect(claims.text(at: path).isNil) }
    }

    @Test("Before anything is verified a token tells its issuer, and what is no token tells none")
    func unverified() throws {
        let signer = try JWSSigner(key: .generate(.ec(.p256)), keyID: "k", algorithm: .es256)
        let token = try signer.sign(payload: Array(#"{"iss": "https://issuer.example"}"#.utf8))
        #expect(JWTClaims.issuer(ofUnverified: token).isExactly("https://issuer.example"))
        let noIssuer = try signer.sign(payload: Array("{}".utf8))
        for text in ["", "a", "a.b", "a.b.c", "....", noIssuer, "\u{E9}.\u{E9}.\u{E9}", token + ".x"] {
            #expect(JWTClaims.issuer(ofUnverified: text).isNil)
        }
    }
}
