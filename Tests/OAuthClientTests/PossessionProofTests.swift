import AssayCore
import AssayCrypto
import AssayKit
import AssayOAuthClient
import AssayTesting
import Testing

@Suite("Proofs of possession")
struct PossessionProofTests {
    private let bench: ClientBench

    init() throws {
        bench = try ClientBench()
    }

    private func refusal(_ proof: String, rules: ClientAttestationRules = ClientAttestationRules()) async throws
        -> ClientRefusal?
    {
        try await bench.refusal(bench.presented([bench.attestation()], proofs: [proof]), rules: rules)
    }

    @Test("each rule of proofs has its reason", arguments: badClaims)
    func claims(changes: JSON, reason: Reason) async throws {
        let refusal = try await refusal(bench.proof(changes))
        #expect(refusal == ClientRefusal(reason, .invalidClientAttestation, detail: refusal?.detail))
    }

    @Test("each rule of their headers has its reason", arguments: badHeaders)
    func headers(changes: JSON, reason: Reason) async throws {
        #expect(try await refusal(bench.proof(header: changes))?.reason == reason)
    }

    @Test("what is no JWT is malformed", arguments: ["", "x", "a.b.c", String(repeating: "a", count: 16_385)])
    func malformed(text: String) async throws {
        #expect(try await refusal(text)?.reason == OAuthClientReasons.proof.malformed)
    }

    @Test("the attested key proves itself, and no other")
    func signature() async throws {
        #expect(try await refusal(bench.proof(by: bench.attesterKey))?.reason == OAuthClientReasons.proof.signature)
        let other = try PrivateKey.generate(.ec(.p384))
        #expect(
            try await refusal(bench.proof(header: ["alg": "ES384"], by: other))?.reason
                == OAuthClientReasons.proof.algorithm)
    }

    @Test("a proof is taken in its window, which begins a little in the future")
    func window() async throws {
        let cases: [(Int, Reason?)] = [
            (300, nil), (301, OAuthClientReasons.proof.stale), (-30, nil),
            (-31, OAuthClientReasons.proof.notYetValid),
        ]
        for (age, expected) in cases {
            let proof = try bench.proof(["iat": .integer(bench.now - Int64(age))])
            #expect(try await refusal(proof)?.reason == expected)
        }
    }

    @Test("a proof is good once, for as long as it would be taken, and a day later nobody remembers it")
    func replay() async throws {
        let proof = try bench.proof()
        #expect(try await refusal(proof) == nil)
        #expect(try await refusal(proof)?.reason == OAuthClientReasons.proof.replayed)
        bench.clock.advance(by: .seconds(300))
        #expect(try await refusal(proof)?.reason == OAuthClientReasons.proof.replayed)
        bench.clock.advance(by: .seconds(1))
        #expect(try await refusal(proof)?.reason == OAuthClientReasons.proof.stale)
        bench.clock.advance(by: .seconds(86_400))
        #expect(try await bench.state.subspace("proofs").list(limit: 10).isEmpty)
    }

    @Test("a proof that is refused for something else is not used up")
    func refusedIsUnused() async throws {
        let proof = try bench.proof()
        var presented = try bench.presented([bench.attestation()], proofs: [proof])
        presented.clientID = "other"
        #expect(try await bench.refusal(presented)?.reason == OAuthClientReasons.attestationClient)
        presented.clientID = nil
        #expect(try await bench.refusal(presented) == nil)
    }

    @Test("of requests at the same time with one proof, one gets through")
    func concurrentReplay() async throws {
        let presented = try bench.presented([bench.attestation()], proofs: [bench.proof()])
        let bench = bench
        let passed = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { try await bench.refusal(presented) == nil } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(passed == 1)
    }

    @Test("another client's proof with the same identifier is another proof")
    func identifiers() async throws {
        let other = try PrivateKey.generate(.ec(.p256))
        #expect(try await refusal(bench.proof(["jti": "1"])) == nil)
        let attestation = try bench.attestation(["cnf": ClientKey(other.publicKey).confirmation])
        let presented = try bench.presented([attestation], proofs: [bench.proof(["jti": "1"], by: other)])
        #expect(try await bench.refusal(presented) == nil)
    }

    @Test("the policy may take one of the two ways alone")
    func methods() async throws {
        let combined = ClientAttestationRules(methods: [.combined])
        #expect(try await refusal(bench.proof(), rules: combined)?.reason == OAuthClientReasons.proofMethod)
        let separate = ClientAttestationRules(methods: [.possessionProof])
        let presented = try bench.presented([bench.attestation()], dpop: [bench.dpop()])
        #expect(try await bench.refusal(presented, rules: separate)?.reason == OAuthClientReasons.proofMethod)
    }
}

private let badClaims: [(JSON, Reason)] = [
    (["aud": nil], OAuthClientReasons.proof.claim),
    (["aud": "https://other.example.com"], OAuthClientReasons.proofAudience),
    (["aud": "https://login.example.com/"], OAuthClientReasons.proofAudience),
    (["aud": ["https://login.example.com", "https://other.example.com"]], OAuthClientReasons.proofAudience),
    (["aud": []], OAuthClientReasons.proof.claim), (["aud": 5], OAuthClientReasons.proof.malformed),
    (["jti": nil], OAuthClientReasons.proof.claim), (["jti": ""], OAuthClientReasons.proof.claim),
    (["jti": .string(String(repeating: "a", count: 129))], OAuthClientReasons.proof.claim),
    (["jti": 5], OAuthClientReasons.proof.malformed), (["iat": nil], OAuthClientReasons.proof.claim),
    (["iat": nil, "exp": 4_000_000_000], OAuthClientReasons.proof.claim),
    (["iat": 1], OAuthClientReasons.proof.stale), (["iat": 4_000_000_000], OAuthClientReasons.proof.notYetValid),
    (["nbf": 4_000_000_000], OAuthClientReasons.proof.notYetValid), (["exp": 1], OAuthClientReasons.proof.stale),
    (["challenge": 5], OAuthClientReasons.proof.claim),
]

private let badHeaders: [(JSON, Reason)] = [
    (["typ": nil], OAuthClientReasons.proof.type), (["typ": "JWT"], OAuthClientReasons.proof.type),
    (["typ": "dpop+jwt"], OAuthClientReasons.proof.type),
    (["typ": "oauth-client-attestation+jwt"], OAuthClientReasons.proof.type),
    (["alg": "none"], OAuthClientReasons.proof.algorithm), (["alg": "HS256"], OAuthClientReasons.proof.algorithm),
    (["alg": "RS256"], OAuthClientReasons.proof.algorithm), (["crit": ["b64"]], OAuthClientReasons.proof.malformed),
]
