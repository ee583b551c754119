import AssayCore
import AssayCrypto
import Testing

/// A key of a document: a good one with members that are changed, and why it is skipped; nil where it is used.
private struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let key: JSON
    let problem: String?

    var testDescription: String { name }

    init(_ name: String, _ changes: [String: JSON?], of key: JSON = JWKSetTests.ec, _ problem: String? = nil) {
        self.name = name
        self.key = JWKSetTests.merge(key, changes)
        self.problem = problem
    }
}

private let used: [Row] = [
    Row("EC", [:]), Row("RSA", [:], of: JWKSetTests.rsa), Row("no kid", ["kid": nil]),
    Row("no alg", ["alg": nil]), Row("use sig", ["use": "sig"]), Row("unknown members", ["x5t": "AA", "new": [1]]),
    Row("key_ops verify", ["key_ops": ["verify"]]), Row("several key_ops", ["key_ops": ["sign", "verify"]]),
    Row(
        "a modulus beside one with the fingerprint", ["n": .string(encoded(ROCAModulus.make(offset: 2)))],
        of: JWKSetTests.rsa),
]

private let unusable: [Row] = [
    // What it is for.
    Row("use enc", ["use": "enc"], "not for signatures"), Row("use SIG", ["use": "SIG"], "not for signatures"),
    Row("use of another type", ["use": ["sig"]], "use is not a string"),
    Row("key_ops without verify", ["key_ops": ["sign"]], "key_ops lacks verify"),
    Row("key_ops empty", ["key_ops": []], "key_ops lacks verify"),
    Row("key_ops in capitals", ["key_ops": ["VERIFY"]], "key_ops lacks verify"),
    Row("key_ops text", ["key_ops": "verify"], "key_ops is not an array"),
    Row("key_ops null", ["key_ops": .null], "key_ops is not an array"),
    Row("key_ops object", ["key_ops": ["verify": true]], "key_ops is not an array"),
    Row("key_ops of numbers", ["key_ops": ["verify", 1]], "values other than strings"),
    Row("key_ops twice", ["key_ops": ["verify", "verify"]], "repeats"),
    // What kind of key it is.
    Row("no kty", ["kty": nil], "no kty"), Row("OKP", ["kty": "OKP"], "kty"),
    Row("kty in lower case", ["kty": "ec"], "kty"),
    Row("kty of another type", ["kty": 1], "kty is not a string"), Row("P-521", ["crv": "P-521"], "crv"),
    Row("alg none", ["alg": "none"], "alg"), Row("alg of a secret", ["alg": "HS256"], "alg"),
    Row("alg of another key", ["alg": "RS256"], "alg does not go with the key"),
    Row("alg of the other curve", ["alg": "ES384"], "alg does not go with the key"),
    Row("kid of another type", ["kid": 7], "kid is not a string"),
    // Numbers.
    Row("a point off the curve", ["y": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"], "invalid JWK"),
    Row("a point at infinity", ["x": .string(zeros), "y": .string(zeros)], "invalid JWK"),
    Row("a short coordinate", ["x": "AAAA"], "coordinate"), Row("no y", ["y": nil], "no y"),
    Row("padding", ["x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU="], "base64url"),
    Row("no n", ["n": nil], of: JWKSetTests.rsa, "no n"), Row("no e", ["e": nil], of: JWKSetTests.rsa, "no e"),
    Row("an exponent of 1", ["e": "AQ"], of: JWKSetTests.rsa, "exponent"),
    Row("an even exponent", ["e": "AQAA"], of: JWKSetTests.rsa, "exponent"),
    Row("an exponent with a leading zero", ["e": "AAEAAQ"], of: JWKSetTests.rsa, "leading zeros"),
    Row(
        "a modulus with a leading zero", ["n": .string(encoded([0] + modulus))], of: JWKSetTests.rsa, "leading zeros"),
    Row("1024 bits", ["n": .string(encoded(Array(modulus.prefix(128))))], of: JWKSetTests.rsa, "size"),
    Row("an even modulus", ["n": .string(encoded(modulus.dropLast() + [0]))], of: JWKSetTests.rsa, "odd"),
    Row("a modulus with the fingerprint", ["n": .string(encoded(ROCAModulus.make()))], of: JWKSetTests.rsa, "ROCA"),
    // Private keys.
    Row("oct", ["kty": "oct", "k": "AAAA"], "private key"), Row("oct without k", ["kty": "oct"], "kty"),
]

private let privateKeys: [Row] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"].flatMap { name in
    (["AA", .null, [["r": "AA"]]] as [JSON]).flatMap { value in
        [JWKSetTests.ec, JWKSetTests.rsa].map { key in
            Row("\(name) \(value)", [name: value], of: key, "private key")
        }
    }
}

private let zeros = String(repeating: "A", count: 43)
private let modulus = Base64.decodeURL(utf8: Array(text("n", JWKSetTests.rsa).utf8)[...]) ?? []

private func text(_ name: String, _ key: JSON) -> String { key[name]?.string ?? "" }

private func encoded(_ bytes: some Collection<UInt8>) -> String { Base64.encodeURL(Array(bytes)) }

@Suite("Sets of keys")
struct JWKSetTests {
    static let ec: JSON = [
        "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "kid": "k", "alg": "ES256",
    ]
    static let rsa: JSON = merge((try? JSON.parse(JOSEVectors.thumbprintKey.utf8)) ?? [:], ["kid": "k"])

    /// An object with members changed; one that is nil in `changes` is taken away, while null is a value.
    static func merge(_ object: JSON, _ changes: [String: JSON?]) -> JSON {
        let added = changes.sorted { $0.key < $1.key }.compactMap { name, value in value.map { JSONMember(name, $0) } }
        return .object((object.members ?? []).filter { !changes.keys.contains($0.name) } + added)
    }

    private func set(_ keys: [JSON]) throws -> JWKSet {
        try JWKSet(json: JSON.object([JSONMember("keys", .array(keys))]).encoded)
    }

    @Test("A key that cannot be used is skipped, and the others are used", arguments: used + unusable + privateKeys)
    private func skipping(_ row: Row) throws {
        let other = Self.merge(Self.ec, ["kid": "other"])
        for keys in [[row.key, other], [other, row.key]] {
            let set = try set(keys)
            #expect(set["other"] != nil)
            #expect(set.keys.count == (row.problem == nil ? 2 : 1))
            let index = keys[0] == row.key ? 0 : 1
            #expect(set.skipped.map(\.index) == (row.problem == nil ? [] : [index]))
            if let problem = row.problem {
                #expect(set.skipped.first?.description.contains(problem) == true, "\(set.skipped)")
            }
        }
    }

    @Test("What is no object, and a key with a member twice, are skipped")
    func shapes() throws {
        let good = String(decoding: Self.ec.encoded, as: UTF8.self)
        let twice = good.replacing("\"kty\":\"EC\"", with: "\"kty\":\"EC\",\"kty\":\"EC\"")
        let set = try JWKSet(json: "{\"keys\":[1,null,\"x\",[],{},\(twice),\(good)]}".utf8)
        #expect(set.keys.map(\.keyID) == ["k"])
        #expect(set.skipped.map(\.index) == [0, 1, 2, 3, 4, 5])
    }

    @Test("Two keys of one name are both there when their algorithms differ, and the first of one algorithm is used")
    func names() throws {
        let otherPoint = JWK(signing: try PrivateKey.generate(.ec(.p256)).publicKey, keyID: "k").json
        let p384 = JWK(signing: try PrivateKey.generate(.ec(.p384)).publicKey, keyID: "k").json
        let all = try set([Self.rsa, Self.ec, p384, otherPoint, Self.rsa])
        #expect(all.keys == [try JWK(Self.rsa), try JWK(Self.ec), try JWK(p384)])
        #expect(all.skipped.map(\.index) == [3, 4])
        #expect(all.skipped.allSatisfy { $0.problem.contains("an earlier key has its kid") })
        // One that cannot be used does not take the place of one that can.
        let enc = Self.merge(otherPoint, ["use": "enc"])
        #expect(try set([enc, Self.ec]).keys == [try JWK(Self.ec)])
        let nameless = Self.merge(Self.ec, ["kid": nil])
        #expect(try set([nameless, Self.merge(otherPoint, ["kid": nil])]).keys.count == 2)
    }

    @Test("Of two keys of one name a token's algorithm chooses, in whatever order they are listed")
    func choice() throws {
        let ec = try PrivateKey.generate(.ec(.p256))
        let rsa = try PrivateKey.generate(.rsa(bits: 2048))
        let keys = [JWK(signing: ec.publicKey, keyID: "k"), JWK(signing: rsa.publicKey, keyID: "k")]
        for keys in [keys, keys.reversed()] {
            let verifier = JWSVerifier(try JWKSet(json: JWKSet(keys).json.encoded))
            for (key, algorithm) in [(ec, JWSAlgorithm.es256), (rsa, .rs256)] {
                let text = try JWSSigner(key: key, keyID: "k", algorithm: algorithm).sign(payload: [1])
                #expect(try verifier.verify(utf8: Array(text.utf8)[...]).header.algorithm == algorithm)
                try verifier.verify(Array(text.utf8).span) { header, _ in #expect(header.algorithm == algorithm) }
            }
            let other = try JWSSigner(key: .generate(.ec(.p384)), keyID: "k", algorithm: .es384).sign(payload: [1])
            #expect(throws: JWSError.algorithmMismatch) { try verifier.verify(utf8: Array(other.utf8)[...]) }
        }
    }

    @Test("A modulus with the fingerprint is refused, whatever the power is", arguments: 0...12)
    func fingerprint(_ power: Int) throws {
        let modulus = ROCAModulus.make(power: power)
        #expect(modulus.count == 256)
        let error = #expect(throws: CryptoError.self) { try RSAPublicKey(modulus: modulus, exponent: [1, 0, 1]) }
        #expect(error?.code == .invalidKey && error?.message.contains("CVE-2017-15361") == true)
        #expect(throws: Never.self) {
            try RSAPublicKey(modulus: ROCAModulus.make(power: power, offset: 2), exponent: [1, 0, 1])
        }
    }
}
