import AssayCore
import AssayCrypto
import AssayKit
import AssayOAuthClient
import AssayTesting
import Testing

@Suite("Attestation challenges")
struct ChallengeTests {
    private let bench: ClientBench
    private let required = ClientAttestationRules(challenge: .required, dpopNonce: .required)

    init() throws {
        bench = try ClientBench()
    }

    private func issue(_ audience: String = ClientBench.server) async throws -> String {
        try await bench.challenges.issue(for: audience, now: bench.clock.now, randomness: .system)
    }

    private func judge(_ challenge: String) async throws -> AttestationChallenges.Finding {
        try await bench.challenges.judge(challenge, for: ClientBench.server, now: bench.clock.now)
    }

    @Test("a challenge is good until it expires, and more than once")
    func lifetime() async throws {
        let challenge = try await issue()
        #expect(challenge.utf8.count == 76)
        bench.clock.advance(by: .milliseconds(299_999))
        #expect(try await judge(challenge) == .good)
        #expect(try await judge(challenge) == .good)
        bench.clock.advance(by: .milliseconds(1))
        #expect(try await judge(challenge) == .expired)
    }

    @Test("a challenge of a clock that is a little ahead is good, and no other of the future")
    func future() async throws {
        let challenge = try await issue()
        bench.clock.advance(by: .seconds(-60))
        #expect(try await judge(challenge) == .good)
        bench.clock.advance(by: .seconds(-1))
        #expect(try await judge(challenge) == .unknown)
    }

    @Test("after the clock jumped days forward and back, there are challenges again at once")
    func clockForwardAndBack() async throws {
        let before = try await issue()
        bench.clock.advance(by: .seconds(3 * 86_400))
        for _ in 0..<5 { #expect(try await judge(issue()) == .good) }
        bench.clock.advance(by: .seconds(-3 * 86_400))
        let after = try await issue()
        #expect(try await judge(after) == .good)
        #expect(try await judge(issue()) == .good)
        #expect(try await judge(before) != .expired)
    }

    @Test("each byte of a challenge counts, and so does its audience")
    func forgeries() async throws {
        let bytes = try #require(Base64.decodeURL(utf8: Array(try await issue().utf8)[...]))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(try await judge(Base64.encodeURL(changed)) != .good, "byte \(index)")
        }
        #expect(try await judge(try await issue("https://other.example.com")) == .unknown)
        for text in ["", "x", String(repeating: "A", count: 76), String(repeating: "a", count: 100_000)] {
            #expect(try await judge(text) != .good)
        }
    }

    @Test("a challenge outlives midnight, and no key outlives its challenges")
    func midnight() async throws {
        let day = Duration.seconds(86_400 - bench.now % 86_400)
        bench.clock.advance(by: day - .seconds(100))
        let challenge = try await issue()
        bench.clock.advance(by: .seconds(200))
        #expect(try await judge(challenge) == .good)
        #expect(try await judge(try await issue()) == .good)
        bench.clock.advance(by: .seconds(86_400))
        #expect(try await bench.state.subspace("keys").list(limit: 10).count == 1)
    }

    @Test("servers with a store in common take each other's challenges, and no others")
    func shared() async throws {
        let challenge = try await issue()
        let other = AttestationChallenges(
            lifetime: .seconds(300), state: bench.state.subspace("keys"), randomness: .seeded(1))
        #expect(try await other.judge(challenge, for: ClientBench.server, now: bench.clock.now) == .good)
        let stranger = AttestationChallenges(
            lifetime: .seconds(300), state: bench.state.subspace("others"), randomness: .seeded(1))
        #expect(try await stranger.judge(challenge, for: ClientBench.server, now: bench.clock.now) == .unknown)
    }

    @Test("a store that fails decides nothing")
    func failing() async throws {
        let store = FailingStore(bench.store)
        let challenges = AttestationChallenges(
            lifetime: .seconds(300), state: StateSpace("test/keys", in: store), randomness: .system)
        let challenge = try await issue()
        store.isFailing = true
        await #expect(throws: FailingStore.Failure.self) {
            try await challenges.judge(challenge, for: ClientBench.server, now: bench.clock.now)
        }
        await #expect(throws: FailingStore.Failure.self) {
            try await challenges.issue(for: ClientBench.server, now: bench.clock.now, randomness: .system)
        }
    }

    @Test("where challenges are demanded, a proof answers one")
    func demanded() async throws {
        let challenge = try await issue()
        let foreign = try await issue("https://other.example.com")
        let cases: [(JSON, Reason?)] = [
            ([:], OAuthClientReasons.challengeMissing), (["challenge": .string(challenge)], nil),
            (["challenge": "x"], OAuthClientReasons.challengeUnknown),
            (["challenge": .string(foreign)], OAuthClientReasons.challengeUnknown),
            (["nonce": .string(challenge)], OAuthClientReasons.challengeMissing),
        ]
        for (claims, expected) in cases {
            let refusal = try await bench.refusal(
                bench.presented([bench.attestation()], proofs: [bench.proof(claims)]), rules: required)
            #expect(refusal?.reason == expected)
            #expect(refusal == nil || refusal?.code == .useAttestationChallenge)
        }
        bench.clock.advance(by: .seconds(300))
        let late = try await bench.refusal(
            bench.presented([bench.attestation()], proofs: [bench.proof(["challenge": .string(challenge)])]),
            rules: required)
        #expect(late == ClientRefusal(OAuthClientReasons.challengeExpired, .useAttestationChallenge))
    }

    @Test("a DPoP proof for both answers in its nonce; one beside another proof has a nonce of its own")
    func nonces() async throws {
        let challenge = try await issue()
        let alone = { (claims: JSON) in try bench.presented([bench.attestation()], dpop: [bench.dpop(claims)]) }
        #expect(
            try await bench.refusal(alone([:]), rules: required)
                == ClientRefusal(OAuthClientReasons.challengeMissing, .useAttestationChallenge))
        #expect(try await bench.refusal(alone(["nonce": .string(challenge)]), rules: required) == nil)
        let beside = { (claims: JSON) in
            try bench.presented(
                [bench.attestation()], proofs: [bench.proof(["challenge": .string(challenge)])],
                dpop: [bench.dpop(claims)])
        }
        #expect(
            try await bench.refusal(beside([:]), rules: required)
                == ClientRefusal(OAuthClientReasons.challengeMissing, .useDPoPNonce))
        #expect(
            try await bench.refusal(beside(["nonce": "x"]), rules: required)
                == ClientRefusal(OAuthClientReasons.challengeUnknown, .useDPoPNonce))
        #expect(try await bench.refusal(beside(["nonce": .string(challenge)]), rules: required) == nil)
    }

    @Test("where they are optional, one that is there is good; where they are off, nobody looks")
    func modes() async throws {
        let presented = { (claims: JSON) in
            try bench.presented([bench.attestation()], proofs: [bench.proof(claims)])
        }
        #expect(try await bench.refusal(presented([:])) == nil)
        #expect(
            try await bench.refusal(presented(["challenge": "x"]))?.reason == OAuthClientReasons.challengeUnknown)
        let off = ClientAttestationRules(challenge: .off, dpopNonce: .off)
        #expect(try await bench.refusal(presented(["challenge": "x"]), rules: off) == nil)
    }
}
