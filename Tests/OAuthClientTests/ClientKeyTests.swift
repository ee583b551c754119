import AssayCore
import AssayCrypto
import AssayKit
import AssayOAuthClient
import Testing

@Suite("Keys of clients")
struct ClientKeyTests {
    private let key: PrivateKey
    private let jwk: JSON

    init() throws {
        key = try .generate(.ec(.p256))
        jwk = ClientKey(key.publicKey).jwk
    }

    private func problem(_ jwk: JSON, _ algorithms: Set<JWSAlgorithm> = [.es256]) -> String? {
        do throws(ClientKey.Problem) {
            _ = try ClientKey(jwk: jwk, algorithms: algorithms)
            return nil
        } catch {
            return error.message
        }
    }

    @Test("a P-256 key is read, and written again with what makes it a key and no more")
    func good() throws {
        let full = ClientBench.merge(jwk, ["use": "sig", "alg": "ES256", "kid": "k", "ext": true])
        let read = try ClientKey(jwk: full, algorithms: [.es256])
        #expect(read.publicKey == key.publicKey)
        #expect(read.jwk.members?.map(\.name) == ["kty", "crv", "x", "y"])
        #expect(read.thumbprint == JWK(key.publicKey).thumbprint)
    }

    @Test(
        "a key with any member of a private or a shared key is refused",
        arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"])
    func privateMembers(name: String) {
        #expect(problem(ClientBench.merge(jwk, .object([JSONMember(name, "AA")])))?.contains("`\(name)`") == true)
    }

    @Test("what is no public key is refused", arguments: badKeys)
    func bad(changes: JSON, expected: String) {
        #expect(problem(ClientBench.merge(jwk, changes))?.contains(expected) == true)
    }

    @Test("a point that is not on the curve is refused")
    func offCurve() throws {
        var bytes = try #require(jwk["y"]?.string.flatMap { Base64.decodeURL(utf8: Array($0.utf8)[...]) })
        bytes[31] ^= 1
        let message = problem(ClientBench.merge(jwk, ["y": .string(Base64.encodeURL(bytes))]))
        #expect(message?.contains("invalid JWK") == true)
    }

    @Test("the policy says which kinds of keys are taken")
    func kinds() throws {
        let p384 = ClientKey(try PrivateKey.generate(.ec(.p384)).publicKey).jwk
        let rsa = ClientKey(try PrivateKey.generate(.rsa(bits: 2048)).publicKey).jwk
        #expect(problem(p384)?.contains("ES384") == true)
        #expect(problem(rsa)?.contains("RS256") == true)
        #expect(problem(p384, [.es384]) == nil)
        #expect(problem(rsa, [.rs256]) == nil)
        #expect(problem("text")?.contains("not a JSON object") == true)
    }
}

private let badKeys: [(JSON, String)] = [
    (["kty": nil], "no kty"), (["kty": "oct"], "kty"), (["kty": "OKP"], "kty"), (["kty": 5], "kty"),
    (["crv": nil], "crv"), (["crv": "secp256k1"], "crv"), (["crv": "P-521"], "crv"), (["crv": "P-384"], "coordinate"),
    (["x": nil], "no x"), (["y": nil], "no y"), (["x": "AAAA"], "coordinate"), (["x": "****"], "base64url"),
    (["alg": "ES384"], "alg"), (["alg": "HS256"], "alg"), (["alg": "none"], "alg"), (["use": "enc"], "signatures"),
    (["key_ops": ["sign"]], "key_ops"), (["key_ops": "verify"], "key_ops"), (["key_ops": [1]], "key_ops"),
    (["x": .string(String(repeating: "A", count: 43)), "y": .string(String(repeating: "A", count: 43))], "invalid"),
]
