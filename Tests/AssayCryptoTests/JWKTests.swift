import AssayCore
import AssayCrypto
import Testing

@Suite struct JWKTests {
    static func parse(_ text: String) throws -> JWK {
        try JWK(JSON.parse(text.utf8))
    }

    @Test("The thumbprint is that of RFC 7638, section 3.1")
    func thumbprint() throws {
        #expect(try Self.parse(JOSEVectors.thumbprintKey).thumbprint == JOSEVectors.thumbprint)
    }

    @Test("A thumbprint does not depend on kid, use and alg")
    func bareThumbprint() throws {
        let bare = try Self.parse(JOSEVectors.es256Key)
        let named = JWK(signing: bare.publicKey, keyID: "k")
        #expect(named != bare)
        #expect(named.thumbprint == bare.thumbprint)
    }

    @Test("A key is written in one order of members, and read back the same")
    func json() throws {
        let key = JWK(signing: try Self.parse(JOSEVectors.thumbprintKey).publicKey, keyID: "k1")
        #expect(key.json.members?.map(\.name) == ["kty", "use", "alg", "kid", "n", "e"])
        #expect(key.json["alg"] == "RS256" && key.json["use"] == "sig" && key.json["e"] == "AQAB")
        #expect(try JWK(key.json) == key)
        let curveKey = JWK(signing: try PrivateKey.generate(.ec(.p384)).publicKey, keyID: "k2")
        #expect(curveKey.json.members?.map(\.name) == ["kty", "use", "alg", "kid", "crv", "x", "y"])
        #expect(curveKey.json["alg"] == "ES384" && curveKey.json["crv"] == "P-384")
        #expect(try JWK(curveKey.json) == curveKey)
        let set = JWKSet([key, curveKey])
        #expect(try JWKSet(json: set.json.encoded) == set)
        #expect(set["k2"] == curveKey && set["k3"] == nil)
    }

    static let good = [
        ("kty", "EC"), ("crv", "P-256"), ("x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
        ("y", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"), ("kid", "k"), ("alg", "ES256"),
    ]

    @Test(
        "A key with one wrong member is refused, and the error says how",
        arguments: [
            ("kty", nil, "malformed"), ("kty", 1, "malformed"), ("kty", "OKP", "unsupported"),
            ("kty", "ec", "unsupported"), ("kty", "oct", "unsupported"), ("kty", "RSA", "malformed"),
            ("crv", nil, "malformed"), ("crv", "P-521", "unsupported"), ("crv", "P-384", "malformed"),
            ("x", nil, "malformed"), ("x", "", "malformed"), ("x", "AA", "malformed"), ("x", 7, "malformed"),
            ("x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU=", "malformed"),
            ("x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEV", "malformed"),
            ("y", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "invalid"),
            ("kid", 1, "malformed"), ("use", ["sig"], "malformed"), ("alg", 1, "malformed"),
            ("alg", "RS256", "malformed"), ("alg", "ES384", "malformed"), ("alg", "none", "unsupported"),
            ("alg", "HS256", "unsupported"), ("key_ops", ["sign"], "not for"), ("key_ops", "verify", "malformed"),
            ("p", "AQ", "contains"), ("k", "AQ", "contains"),
            ("d", "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI", "contains"),
        ] as [(String, JSON?, String)])
    func refused(_ name: String, _ value: JSON?, _ kind: String) throws {
        var members = Self.good.filter { $0.0 != name }.map { JSONMember($0.0, .string($0.1)) }
        #expect(throws: Never.self) { try JWK(.object(Self.good.map { JSONMember($0.0, .string($0.1)) })) }
        if let value { members.append(JSONMember(name, value)) }
        let error = #expect(throws: JWKError.self) { try JWK(.object(members)) }
        switch error {
        case .malformed: #expect(kind == "malformed")
        case .unsupported: #expect(kind == "unsupported")
        case .invalidKey: #expect(kind == "invalid")
        case .containsPrivateKey: #expect(kind == "contains")
        case .notForVerification: #expect(kind == "not for")
        case nil: break
        }
    }

    @Test("A member that is there twice, or no object at all, is refused")
    func shapes() {
        let twice = (Self.good + [Self.good[0]]).map { JSONMember($0.0, .string($0.1)) }
        #expect(throws: JWKError.malformed("a member is present twice")) { try JWK(.object(twice)) }
        for json in [.null, "x", [], 1] as [JSON] {
            #expect(throws: JWKError.self) { try JWK(json) }
        }
    }

    @Test("RSA numbers with leading zeros are refused, and too small keys are unsupported")
    func rsaNumbers() throws {
        let key = try Self.parse(JOSEVectors.rs256Key)
        guard case .rsa(let numbers) = key.publicKey else { return }
        func json(_ modulus: [UInt8], _ exponent: [UInt8]) -> JSON {
            ["kty": "RSA", "n": .string(Base64.encodeURL(modulus)), "e": .string(Base64.encodeURL(exponent))]
        }
        #expect(try JWK(json(numbers.modulus, numbers.exponent)) == key)
        for refused in [json([0] + numbers.modulus, [1, 0, 1]), json(numbers.modulus, [0, 1, 0, 1])] {
            let error = #expect(throws: JWKError.self) { try JWK(refused) }
            #expect(error?.description.contains("leading zeros") == true)
        }
        let small = json([UInt8](repeating: 0xFF, count: 128), [1, 0, 1])
        #expect(throws: JWKError.unsupported("RSA key of this size")) { try JWK(small) }
    }

    @Test("A set skips keys of unknown types")
    func skipping() throws {
        let document = """
            {"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
             {"kty":"oct","k":"AAAA"},\(JOSEVectors.thumbprintKey),{"kty":"RSA","alg":"PS256","n":"AQ","e":"AQAB"}]}
            """
        #expect(try JWKSet(json: document.utf8).keys.map(\.keyID) == ["2011-04-29"])
        #expect(try JWKSet(json: document.utf8).skipped.map(\.index) == [0, 1, 3])
    }

    @Test(
        "What is no set of at most 64 keys is refused",
        arguments: [
            "", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[],\"keys\":[]}",
            "{\"keys\":[\(String(repeating: "{\"kty\":\"oct\"},", count: 64)){\"kty\":\"oct\"}]}",
        ])
    func noSets(_ text: String) {
        let error = #expect(throws: JWKError.self) { try JWKSet(json: text.utf8) }
        if case .malformed = error {} else { Issue.record("\(String(describing: error))") }
    }
}
