import AssayCore
import AssayCrypto
import AssayKit
import AssayOAuthClient
import Testing

@Suite("DPoP proofs")
struct DPoPProofTests {
    private let bench: ClientBench

    init() throws {
        bench = try ClientBench()
    }

    /// With a proof of possession beside the DPoP proof, which may be of another key then.
    private func beside(_ dpop: String, method: String = "POST", uri: String = ClientBench.endpoint) throws
        -> PresentedClient
    {
        try bench.presented(
            [bench.attestation()], proofs: [bench.proof()], dpop: [dpop], method: method, uri: uri)
    }

    @Test("a DPoP proof alone stands for both proofs, of the attested key")
    func combined() async throws {
        let client = try await bench.verify(bench.presented([bench.attestation()], dpop: [bench.dpop()]))
        #expect(client.method == .combined)
        #expect(client.method.authenticationMethod == "attest_jwt_client_auth_dpop")
        #expect(client.dpopThumbprint == bench.client.thumbprint)
        let other = try bench.presented([bench.attestation()], dpop: [bench.dpop(by: .generate(.ec(.p256)))])
        #expect(
            try await bench.refusal(other) == ClientRefusal(OAuthClientReasons.dpopNotAttested, .invalidDPoPProof))
    }

    @Test("`dpop_jkt` does not go with one proof for both")
    func thumbprintParameter() async throws {
        var presented = try bench.presented([bench.attestation()], dpop: [bench.dpop()])
        presented.dpopThumbprint = bench.client.thumbprint
        #expect(try await bench.refusal(presented)?.reason == OAuthClientReasons.dpopThumbprintCombined)
    }

    @Test("a DPoP proof beside another proof is judged by itself, and may be of a key of its own")
    func separate() async throws {
        let key = try PrivateKey.generate(.ec(.p384))
        let proof = try bench.dpop(header: ["alg": "ES384"], by: key)
        let client = try await bench.verify(beside(proof))
        #expect(client.method == .possessionProof)
        #expect(client.dpopThumbprint == ClientKey(key.publicKey).thumbprint)
    }

    @Test("what is bound to a key is good with that key alone")
    func bound() async throws {
        let other = ClientKey(bench.attesterKey.publicKey).thumbprint
        var presented = try beside(bench.dpop())
        presented.dpopThumbprint = other
        #expect(try await bench.refusal(presented)?.reason == OAuthClientReasons.dpopNotBound)
        presented.dpopThumbprint = bench.client.thumbprint
        presented.tokenThumbprint = other
        #expect(try await bench.refusal(presented)?.reason == OAuthClientReasons.dpopNotBound)
        presented.tokenThumbprint = bench.client.thumbprint
        #expect(try await bench.refusal(presented) == nil)
        presented.dpopProofs = []
        presented.possessionProofs = [try bench.proof()]
        #expect(
            try await bench.refusal(presented) == ClientRefusal(OAuthClientReasons.dpopMissing, .invalidDPoPProof))
    }

    @Test("each rule of DPoP has its reason, beside another proof and for both", arguments: badClaims)
    func claims(changes: JSON, reason: Reason) async throws {
        let alone = try bench.presented([bench.attestation()], dpop: [bench.dpop(changes)])
        for presented in [try beside(bench.dpop(changes)), alone] {
            let refusal = try await bench.refusal(presented)
            #expect(refusal == ClientRefusal(reason, .invalidDPoPProof, detail: refusal?.detail))
        }
    }

    @Test("each rule of its header has its reason", arguments: badHeaders)
    func headers(changes: JSON, reason: Reason) async throws {
        #expect(try await bench.refusal(beside(bench.dpop(header: changes)))?.reason == reason)
    }

    @Test("what is no JWT is malformed", arguments: ["", "x", "a.b.c", String(repeating: "a", count: 16_385)])
    func malformed(text: String) async throws {
        let refusal = try await bench.refusal(beside(text))
        #expect(refusal?.reason == OAuthClientReasons.dpop.malformed)
        #expect(refusal?.code == .invalidDPoPProof)
    }

    @Test("the key in the header made the signature")
    func signature() async throws {
        let key = try PrivateKey.generate(.ec(.p256))
        let proof = try bench.dpop(header: ["jwk": ClientKey(key.publicKey).jwk])
        #expect(try await bench.refusal(beside(proof))?.reason == OAuthClientReasons.dpop.signature)
    }

    @Test("a proof with a private key in it is refused")
    func privateKey() async throws {
        let jwk = ClientBench.merge(bench.client.jwk, ["d": "AAAA"])
        #expect(
            try await bench.refusal(beside(bench.dpop(header: ["jwk": jwk])))?.reason == OAuthClientReasons.dpopKey)
    }

    @Test("the request's URI counts without its query, and in every spelling; its method as it is")
    func target() async throws {
        #expect(
            try await bench.refusal(beside(bench.dpop(), uri: "https://LOGIN.example.com:443/token?code=1")) == nil)
        let spelled = try bench.dpop(["htu": "https://login.example.com:443/x/../%74oken"])
        #expect(try await bench.refusal(beside(spelled)) == nil)
        let elsewhere = try beside(bench.dpop(), uri: "https://login.example.com/par")
        #expect(try await bench.refusal(elsewhere)?.reason == OAuthClientReasons.dpopTarget)
        #expect(
            try await bench.refusal(beside(bench.dpop(), method: "GET"))?.reason == OAuthClientReasons.dpopMethod)
    }

    @Test("at a resource server the proof is for the access token")
    func tokenHash() async throws {
        let hash = Base64.encodeURL(SHA256.hash(Array("token".utf8)))
        let cases: [(JSON, Reason?)] = [
            (["ath": .string(hash)], nil), ([:], OAuthClientReasons.dpop.claim),
            (["ath": "token"], OAuthClientReasons.dpopTokenHash),
            (["ath": .string(hash + "=")], OAuthClientReasons.dpopTokenHash),
            (["ath": 5], OAuthClientReasons.dpop.claim),
        ]
        for (claims, expected) in cases {
            var presented = try beside(bench.dpop(claims))
            presented.accessToken = "token"
            #expect(try await bench.refusal(presented)?.reason == expected)
        }
    }

    @Test("a proof is taken in its window, once")
    func window() async throws {
        let cases: [(Int, Reason?)] = [
            (300, nil), (301, OAuthClientReasons.dpop.stale), (-30, nil), (-31, OAuthClientReasons.dpop.notYetValid),
        ]
        for (age, expected) in cases {
            let proof = try bench.dpop(["iat": .integer(bench.now - Int64(age))])
            #expect(try await bench.refusal(beside(proof))?.reason == expected)
        }
        let proof = try bench.dpop()
        #expect(try await bench.refusal(beside(proof)) == nil)
        let again = try await bench.refusal(beside(proof))
        #expect(again == ClientRefusal(OAuthClientReasons.dpop.replayed, .invalidDPoPProof))
    }

    @Test("identifiers of DPoP proofs and of other proofs are not mixed up")
    func identifiers() async throws {
        let presented = try bench.presented(
            [bench.attestation()], proofs: [bench.proof(["jti": "1"])], dpop: [bench.dpop(["jti": "1"])])
        #expect(try await bench.refusal(presented) == nil)
    }

    @Test("keys of RSA prove themselves, too, where the policy takes them")
    func rsa() async throws {
        let key = try PrivateKey.generate(.rsa(bits: 2048))
        let proof = try bench.dpop(header: ["alg": "RS256"], by: key)
        #expect(try await bench.refusal(beside(proof)) == nil)
        let rules = ClientAttestationRules(proofs: ProofRules(algorithms: [.es256]))
        #expect(
            try await bench.refusal(beside(proof), rules: rules)?.reason == OAuthClientReasons.dpop.algorithm)
    }
}

private let badClaims: [(JSON, Reason)] = [
    (["jti": nil], OAuthClientReasons.dpop.claim), (["jti": ""], OAuthClientReasons.dpop.claim),
    (["jti": .string(String(repeating: "a", count: 129))], OAuthClientReasons.dpop.claim),
    (["jti": 5], OAuthClientReasons.dpop.malformed), (["htm": nil], OAuthClientReasons.dpop.claim),
    (["htm": "GET"], OAuthClientReasons.dpopMethod), (["htm": "post"], OAuthClientReasons.dpopMethod),
    (["htm": 5], OAuthClientReasons.dpop.claim), (["htu": nil], OAuthClientReasons.dpop.claim),
    (["htu": 5], OAuthClientReasons.dpop.claim), (["htu": "/token"], OAuthClientReasons.dpopTarget),
    (["htu": "https://login.example.com/token?x=1"], OAuthClientReasons.dpopTarget),
    (["htu": "https://login.example.com/token#x"], OAuthClientReasons.dpopTarget),
    (["htu": "https://login.example.com/token/"], OAuthClientReasons.dpopTarget),
    (["htu": "http://login.example.com/token"], OAuthClientReasons.dpopTarget),
    (["htu": "https://login.example.com:8443/token"], OAuthClientReasons.dpopTarget),
    (["htu": "https://other.example.com/token"], OAuthClientReasons.dpopTarget),
    (["iat": nil], OAuthClientReasons.dpop.claim), (["iat": "now"], OAuthClientReasons.dpop.malformed),
    (["iat": 1], OAuthClientReasons.dpop.stale), (["iat": 4_000_000_000], OAuthClientReasons.dpop.notYetValid),
    (["nbf": 4_000_000_000], OAuthClientReasons.dpop.notYetValid), (["exp": 1], OAuthClientReasons.dpop.stale),
    (["nonce": 5], OAuthClientReasons.dpop.claim),
]

private let badHeaders: [(JSON, Reason)] = [
    (["typ": nil], OAuthClientReasons.dpop.type), (["typ": "JWT"], OAuthClientReasons.dpop.type),
    (["typ": "oauth-client-attestation-pop+jwt"], OAuthClientReasons.dpop.type),
    (["alg": "none"], OAuthClientReasons.dpop.algorithm), (["alg": "HS256"], OAuthClientReasons.dpop.algorithm),
    (["alg": "RS256"], OAuthClientReasons.dpop.algorithm), (["jwk": nil], OAuthClientReasons.dpopKey),
    (["jwk": "key"], OAuthClientReasons.dpopKey), (["jwk": ["kty": "oct", "k": "AAAA"]], OAuthClientReasons.dpopKey),
    (["crit": ["exp"]], OAuthClientReasons.dpop.malformed),
]
