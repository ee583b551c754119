import AssayCore
import AssayCrypto
import AssayKit
import AssayOAuthClient
import AssayTesting
import AssayVerifier
import Logging
import Testing

@Suite("Client attestations")
struct ClientAttestationTests {
    private let bench: ClientBench

    init() throws {
        bench = try ClientBench()
    }

    @Test("a client with an attestation and a proof is authenticated")
    func good() async throws {
        let client = try await bench.verify(bench.presented([bench.attestation()], proofs: [bench.proof()]))
        #expect(client.clientID == ClientBench.clientID)
        #expect(client.key == bench.client)
        #expect(client.attester == "attester")
        #expect(client.expires == Instant(seconds: bench.now + 3600))
        #expect(client.method == .possessionProof)
        #expect(client.dpopThumbprint == nil)
    }

    @Test("claims that nobody knows are passed over, and `iat` may be absent")
    func unknownClaims() async throws {
        let attestation = try bench.attestation(["iat": nil, "wallet_name": "x", "status": ["a": [1, 2]]])
        #expect(try await bench.refusal(bench.presented([attestation], proofs: [bench.proof()])) == nil)
    }

    @Test("each rule of attestations has its reason", arguments: badClaims)
    func claims(changes: JSON, reason: Reason, code: ClientRefusal.Code) async throws {
        let refusal = try await bench.refusal(
            bench.presented([bench.attestation(changes)], proofs: [bench.proof()]))
        #expect(refusal?.reason == reason)
        #expect(refusal?.code == code)
    }

    @Test("each rule of their headers has its reason", arguments: badHeaders)
    func headers(changes: JSON, reason: Reason) async throws {
        let attestation = try bench.attestation(header: changes)
        #expect(try await bench.refusal(bench.presented([attestation], proofs: [bench.proof()]))?.reason == reason)
    }

    @Test("what is no JWT is malformed", arguments: notTokens)
    func malformed(text: String) async throws {
        let refusal = try await bench.refusal(bench.presented([text], proofs: [bench.proof()]))
        #expect(refusal?.reason == OAuthClientReasons.attestationMalformed)
    }

    @Test("there is exactly one attestation, and a proof")
    func counts() async throws {
        let (attestation, proof) = (try bench.attestation(), try bench.proof())
        let cases: [([String], [String], [String], Reason)] = [
            ([], [proof], [], OAuthClientReasons.attestationMissing),
            ([attestation, attestation], [proof], [], OAuthClientReasons.attestationSeveral),
            ([attestation], [], [], OAuthClientReasons.proofMissing),
            ([attestation], [proof, proof], [], OAuthClientReasons.proof.several),
            ([attestation], [], [try bench.dpop(), try bench.dpop()], OAuthClientReasons.dpop.several),
            ([attestation], [proof], [try bench.dpop(), try bench.dpop()], OAuthClientReasons.dpop.several),
        ]
        for (attestations, proofs, dpop, reason) in cases {
            let presented = try bench.presented(attestations, proofs: proofs, dpop: dpop)
            #expect(try await bench.refusal(presented)?.reason == reason)
        }
    }

    @Test("another key's signature is refused, and so is one that is changed")
    func signatures() async throws {
        let forged = try bench.attestation(by: .generate(.ec(.p256)))
        #expect(
            try await bench.refusal(bench.presented([forged], proofs: [bench.proof()]))?.reason
                == OAuthClientReasons.attestationSignature)
        let good = try bench.attestation()
        var parts = good.split(separator: ".").map(String.init)
        parts[1] = Base64.encodeURL(
            JSON.object([
                "sub": "other", "exp": .integer(bench.now + 60), "cnf": bench.client.confirmation,
            ]).encoded)
        #expect(
            try await bench.refusal(bench.presented([parts.joined(separator: ".")], proofs: [bench.proof()]))?.reason
                == OAuthClientReasons.attestationSignature)
    }

    @Test("an attestation with a key that nobody publishes is of nobody")
    func unknownKey() async throws {
        let attestation = try bench.attestation(header: ["kid": "other"])
        #expect(
            try await bench.refusal(bench.presented([attestation], proofs: [bench.proof()]))?.reason
                == OAuthClientReasons.attestationAttester)
        #expect(
            try await bench.refusal(bench.presented([bench.attestation()], proofs: [bench.proof()]), by: [])?.reason
                == OAuthClientReasons.attestationAttester)
    }

    @Test("an attester is known by `iss`, where attestations have it")
    func issuers() async throws {
        let cases: [(String, Reason?)] = [
            ("https://attester.example.com", nil),
            ("https://other.example.com", OAuthClientReasons.attestationAttester),
        ]
        for (issuer, expected) in cases {
            let attestation = try bench.attestation(["iss": .string(issuer)])
            #expect(
                try await bench.refusal(bench.presented([attestation], proofs: [bench.proof()]))?.reason == expected)
        }
    }

    @Test("an attester speaks for its own clients alone")
    func clients() async throws {
        let keys = IssuerKeys.fixed([JWK(signing: bench.attesterKey.publicKey, keyID: "attester")])
        let other = TrustedAttester(name: "other", issuer: nil, clients: ["other"], keys: keys)
        let own = TrustedAttester(name: "own", issuer: nil, clients: [ExactText(ClientBench.clientID)], keys: keys)
        let presented = { try bench.presented([bench.attestation()], proofs: [bench.proof()]) }
        #expect(
            try await bench.refusal(presented(), by: [other])?.reason == OAuthClientReasons.attestationClientUnknown)
        #expect(try await bench.verify(presented(), by: [other, own]).attester == "own")
    }

    @Test("`client_id` is the client of the attestation")
    func clientID() async throws {
        var presented = try bench.presented([bench.attestation()], proofs: [bench.proof()])
        presented.clientID = "other"
        #expect(try await bench.refusal(presented)?.reason == OAuthClientReasons.attestationClient)
        presented.clientID = ClientBench.clientID
        #expect(try await bench.refusal(presented) == nil)
    }

    @Test("a grant that is bound to a key is good with that key alone")
    func bound() async throws {
        var presented = try bench.presented([bench.attestation()], proofs: [bench.proof()])
        presented.boundThumbprint = ClientKey(bench.attesterKey.publicKey).thumbprint
        #expect(try await bench.refusal(presented)?.reason == OAuthClientReasons.attestationNotBound)
        presented.boundThumbprint = bench.client.thumbprint
        #expect(try await bench.refusal(presented) == nil)
    }

    @Test("attestations end, and the policy may want fresher ones")
    func freshness() async throws {
        let attestation = try bench.attestation()
        bench.clock.advance(by: .seconds(3599))
        #expect(try await bench.refusal(bench.presented([attestation], proofs: [bench.proof()])) == nil)
        let rules = ClientAttestationRules(maximumAge: .seconds(3598))
        let old = try await bench.refusal(bench.presented([attestation], proofs: [bench.proof()]), rules: rules)
        #expect(old == ClientRefusal(OAuthClientReasons.attestationTooOld, .useFreshAttestation))
        bench.clock.advance(by: .seconds(1))
        let ended = try await bench.refusal(bench.presented([attestation], proofs: [bench.proof()]))
        #expect(ended == ClientRefusal(OAuthClientReasons.attestationExpired, .useFreshAttestation))
        let undated = try bench.attestation(["iat": nil])
        #expect(
            try await bench.refusal(bench.presented([undated], proofs: [bench.proof()]), rules: rules)?.reason
                == OAuthClientReasons.attestationClaim)
    }

    @Test("the policy says which algorithms are taken")
    func algorithms() async throws {
        let rules = ClientAttestationRules(algorithms: [.es384])
        #expect(
            try await bench.refusal(bench.presented([bench.attestation()], proofs: [bench.proof()]), rules: rules)?
                .reason == OAuthClientReasons.attestationAlgorithm)
        let proofs = ClientAttestationRules(proofs: ProofRules(algorithms: [.es384]))
        #expect(
            try await bench.refusal(bench.presented([bench.attestation()], proofs: [bench.proof()]), rules: proofs)?
                .reason == OAuthClientReasons.attestationKey)
    }

    @Test("an attester whose keys cannot be had is no reason to refuse")
    func unavailable() async throws {
        let url = try #require(EndpointURL("https://attester.example.com/jwks.json"))
        let host = PluginHost(clock: bench.clock.hostClock, store: bench.store, logger: .init(label: "test"))
        let remote = TrustedAttester(
            name: "remote", issuer: nil, clients: nil, keys: .published(at: url, host: host))
        let presented = try bench.presented([bench.attestation(header: ["kid": "other"])], proofs: [bench.proof()])
        await #expect(throws: KeysUnavailable.self) {
            try await bench.verify(presented, by: [remote, bench.attester])
        }
    }
}

private let farFuture: JSON = 253_402_300_000

private let badClaims: [(JSON, Reason, ClientRefusal.Code)] = [
    (["sub": nil], OAuthClientReasons.attestationClaim, .invalidClientAttestation),
    (["sub": ""], OAuthClientReasons.attestationClaim, .invalidClientAttestation),
    (
        ["sub": .string(String(repeating: "a", count: 1025))], OAuthClientReasons.attestationClaim,
        .invalidClientAttestation
    ),
    (["sub": 5], OAuthClientReasons.attestationMalformed, .invalidClientAttestation),
    (["exp": nil], OAuthClientReasons.attestationClaim, .invalidClientAttestation),
    (["exp": "soon"], OAuthClientReasons.attestationMalformed, .invalidClientAttestation),
    (["exp": 1], OAuthClientReasons.attestationExpired, .useFreshAttestation),
    (["iat": farFuture], OAuthClientReasons.attestationNotYetValid, .invalidClientAttestation),
    (["nbf": farFuture], OAuthClientReasons.attestationNotYetValid, .invalidClientAttestation),
    (["cnf": nil], OAuthClientReasons.attestationClaim, .invalidClientAttestation),
    (["cnf": "key"], OAuthClientReasons.attestationClaim, .invalidClientAttestation),
    (["cnf": ["jkt": "abc"]], OAuthClientReasons.attestationClaim, .invalidClientAttestation),
    (["cnf": ["jwk": "key"]], OAuthClientReasons.attestationKey, .invalidClientAttestation),
    (["cnf": ["jwk": ["kty": "oct", "k": "AAAA"]]], OAuthClientReasons.attestationKey, .invalidClientAttestation),
    (
        ["cnf": ["jwk": ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "d": "AA"]]],
        OAuthClientReasons.attestationKey, .invalidClientAttestation
    ),
]

private let badHeaders: [(JSON, Reason)] = [
    (["typ": nil], OAuthClientReasons.attestationType), (["typ": "JWT"], OAuthClientReasons.attestationType),
    (["typ": "oauth-client-attestation-pop+jwt"], OAuthClientReasons.attestationType),
    (["alg": "none"], OAuthClientReasons.attestationAlgorithm),
    (["alg": "HS256"], OAuthClientReasons.attestationAlgorithm),
    (["alg": "RS256"], OAuthClientReasons.attestationAttester),
    (["alg": nil], OAuthClientReasons.attestationMalformed), (["typ": 5], OAuthClientReasons.attestationMalformed),
    (["crit": ["exp"]], OAuthClientReasons.attestationMalformed),
    (["x5c": .string(String(repeating: "A", count: 4096))], OAuthClientReasons.attestationMalformed),
]

private let notTokens = [
    "", "a", "a.b", "a.b.c", "....", "e30.e30.", "eyJhbGciOiJFUzI1NiJ9.W10.AA", "a~b",
    "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIiwic3ViIjoiYiJ9.AA", String(repeating: "a", count: 16_385),
]
