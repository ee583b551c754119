import AssayCore
import AssayKit
import AssayOAuthClient
import AssayTesting
import Testing

@Suite("The memory of proofs that a client holds its key")
struct ProofMemoryTests {
    @Test(
        "After the state began, only a proof is accepted that is certain to be new, and the client is told how to make one"
    )
    func beforeState() async throws {
        var bench = try ClientBench()
        bench.beginning = bench.clock.now
        let attestation = try bench.attestation()
        let possession = { (claims: JSON) in try bench.presented([attestation], proofs: [bench.proof(claims)]) }
        let dpop = { (claims: JSON) in try bench.presented([attestation], dpop: [bench.dpop(claims)]) }
        #expect(
            try await bench.refusal(possession([:]))
                == ClientRefusal(OAuthClientReasons.proof.beforeState, .useAttestationChallenge))
        #expect(
            try await bench.refusal(dpop([:]))
                == ClientRefusal(OAuthClientReasons.dpop.beforeState, .useAttestationChallenge))
        let challenge = try await bench.challenges.issue(
            for: ClientBench.server, now: bench.clock.now, randomness: .system)
        #expect(try await bench.refusal(possession(["challenge": .string(challenge)])) == nil)
        #expect(try await bench.refusal(dpop(["nonce": .string(challenge)])) == nil)
        // Where no challenges are asked for, there is nothing to tell the client.
        let rules = ClientAttestationRules(challenge: .off)
        #expect(
            try await bench.refusal(possession([:]), rules: rules)
                == ClientRefusal(OAuthClientReasons.proof.beforeState))

        bench.clock.advance(by: .seconds(30))
        #expect(try await bench.refusal(possession([:])) == nil)
        #expect(try await bench.refusal(dpop([:])) == nil)
    }

    @Test("A challenge that was made before the state began proves nothing")
    func earlierChallenge() async throws {
        var bench = try ClientBench()
        let challenge = try await bench.challenges.issue(
            for: ClientBench.server, now: bench.clock.now, randomness: .system)
        bench.clock.advance(by: .milliseconds(1))
        bench.beginning = bench.clock.now
        let proof = try bench.proof(["challenge": .string(challenge)])
        let refusal = try await bench.refusal(bench.presented([bench.attestation()], proofs: [proof]))
        #expect(refusal?.reason == OAuthClientReasons.proof.beforeState)
    }

    @Test(
        "A proof of an older draft, which says only when it ends, counts as made as long before that as any policy allows"
    )
    func olderDrafts() async throws {
        var bench = try ClientBench()
        bench.beginning = bench.clock.now
        bench.clock.advance(by: .seconds(3500))
        let rules = ClientAttestationRules(proofs: ProofRules(acceptsOlderDrafts: true))
        func refusal(end: Int64) async throws -> Reason? {
            let proof = try bench.proof(["iat": .null, "exp": .integer(bench.now + end)])
            return try await bench.refusal(
                bench.presented([bench.attestation()], proofs: [proof]), rules: rules)?.reason
        }
        #expect(try await refusal(end: 99) == OAuthClientReasons.proof.beforeState)
        #expect(try await refusal(end: 100) == nil)
    }
}
