import AssayCore
import AssayKit
import AssayOAuthClient
import AssayTesting
import Testing

/// The shapes that apps in the field have: that of GOV.UK One Login among them, whose proofs have `iss`, `aud`, `exp` and
/// `jti`.
@Suite("Older drafts of client attestations")
struct OlderDraftsTests {
    private let bench: ClientBench
    private let older = ClientAttestationRules(proofs: ProofRules(acceptsOlderDrafts: true))

    init() throws {
        bench = try ClientBench()
    }

    /// A proof that says when it ends, and not when it was made.
    private func undated(_ changes: JSON = [:]) throws -> String {
        let base: JSON = [
            "iat": nil, "iss": .string(ClientBench.clientID), "exp": changes["exp"] ?? .integer(bench.now + 180),
        ]
        return try bench.proof(base)
    }

    @Test("a proof with an end and no beginning is taken in the profile for older drafts alone")
    func undatedProofs() async throws {
        let presented = { try bench.presented([bench.attestation()], proofs: [undated()], dpop: [bench.dpop()]) }
        #expect(try await bench.refusal(presented(), rules: older) == nil)
        #expect(try await bench.refusal(presented())?.reason == OAuthClientReasons.proof.claim)
    }

    @Test("its end lies in the window, and it is good once until then")
    func ends() async throws {
        let cases: [(Int, Reason?)] = [
            (300, nil), (301, OAuthClientReasons.proof.stale), (0, OAuthClientReasons.proof.stale),
            (-1, OAuthClientReasons.proof.stale),
        ]
        for (lifetime, expected) in cases {
            let proof = try undated(["exp": .integer(bench.now + Int64(lifetime))])
            #expect(
                try await bench.refusal(bench.presented([bench.attestation()], proofs: [proof]), rules: older)?.reason
                    == expected)
        }
        let presented = try bench.presented([bench.attestation()], proofs: [undated()])
        #expect(try await bench.refusal(presented, rules: older) == nil)
        bench.clock.advance(by: .seconds(179))
        #expect(try await bench.refusal(presented, rules: older)?.reason == OAuthClientReasons.proof.replayed)
        let endless = try bench.proof(["iat": nil])
        #expect(
            try await bench.refusal(bench.presented([bench.attestation()], proofs: [endless]), rules: older)?.reason
                == OAuthClientReasons.proof.claim)
    }

    @Test("`iss` of a proof is the client, where anybody looks")
    func proofIssuer() async throws {
        let presented = { try bench.presented([bench.attestation()], proofs: [bench.proof(["iss": "other"])]) }
        #expect(try await bench.refusal(presented(), rules: older)?.reason == OAuthClientReasons.proofIssuer)
        #expect(try await bench.refusal(presented()) == nil)
    }

    @Test("an attestation without a type of its own is taken in that profile alone")
    func types() async throws {
        for header: JSON in [["typ": nil], ["typ": "JWT"]] {
            let presented = { try bench.presented([bench.attestation(header: header)], proofs: [bench.proof()]) }
            #expect(try await bench.refusal(presented(), rules: older) == nil)
            #expect(try await bench.refusal(presented())?.reason == OAuthClientReasons.attestationType)
        }
        let other = try bench.presented([bench.attestation(header: ["typ": "at+jwt"])], proofs: [bench.proof()])
        #expect(try await bench.refusal(other, rules: older)?.reason == OAuthClientReasons.attestationType)
    }

    @Test("a challenge may stand in `nonce`")
    func nonce() async throws {
        var rules = older
        rules.challenge = .required
        let challenge = try await bench.challenges.issue(
            for: ClientBench.server, now: bench.clock.now, randomness: .system)
        let proof = try bench.proof(["nonce": .string(challenge)])
        #expect(try await bench.refusal(bench.presented([bench.attestation()], proofs: [proof]), rules: rules) == nil)
    }

    @Test("both JWTs may stand in one header with a tilde between them")
    func concatenated() async throws {
        let joined = { "\(try bench.attestation())~\(try bench.proof())" }
        let client = try await bench.verify(bench.presented([joined()]), rules: older)
        #expect(client.method == .possessionProof)
        #expect(
            try await bench.refusal(bench.presented([joined()]))?.reason == OAuthClientReasons.proofMissing)
        #expect(
            try await bench.refusal(bench.presented([joined()], proofs: [bench.proof()]), rules: older)?.reason
                == OAuthClientReasons.proof.several)
        for text in ["~", "a~", "~a", "a~b~c"] {
            #expect(
                try await bench.refusal(bench.presented([text]), rules: older)?.reason
                    == OAuthClientReasons.attestationMalformed)
        }
    }
}
