import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayOAuthClient
import AssayTesting
import Testing

/// What an authorization server asks, with attestations that the service itself issues.
@Suite("Verification of clients for authorization servers")
struct VerifyingTests {
    private let service: OAuthService
    private let bench: ClientBench

    init() async throws {
        bench = try ClientBench()
        service = try await Self.grown(OAuthService(clock: bench.clock))
    }

    /// A service whose state began so long ago that proofs of now are certain to be younger.
    private static func grown(_ service: OAuthService) async throws -> OAuthService {
        _ = await service.call("introspectToken", ["token": "x"], as: OAuthService.caller)
        service.clock.advance(by: .seconds(31))
        return service
    }

    private func attestation(_ service: OAuthService? = nil) async throws -> String {
        let service = service ?? self.service
        let reply = try await service.call(
            "attestClient", ["jwk": bench.client.jwk], token: service.token()
        ).get()
        return try #require(reply["client_attestation"]?.string)
    }

    private func body(_ attestation: String, _ changes: JSON = [:]) throws -> JSON {
        ClientBench.merge(
            [
                "audience": .string(OAuthService.server), "clientAttestation": .array([.string(attestation)]),
                "clientAttestationPop": .array([.string(try bench.proof())]), "method": "POST",
                "uri": .string(ClientBench.endpoint),
            ], changes)
    }

    private func verify(_ body: JSON, by service: OAuthService? = nil) async -> Result<JSON, CallFailure> {
        await (service ?? self.service).call("verifyClientAttestation", body, as: OAuthService.caller)
    }

    @Test("a client with an attestation of the service is known, with its key and a challenge for the next time")
    func good() async throws {
        let reply = try await verify(body(attestation())).get()
        #expect(reply["clientId"] == .string(OAuthService.clientID))
        #expect(reply["jkt"] == .string(bench.client.thumbprint))
        #expect(reply["cnf"] == bench.client.confirmation)
        #expect(reply["mode"] == "attest_jwt_client_auth")
        #expect(reply["attester"] == "self")
        #expect(reply["exp"] == .integer(service.clock.now.seconds + 86_400))
        #expect(reply["dpopJkt"] == nil)
        #expect(reply["attestationChallenge"]?.string?.utf8.count == 76)
        #expect(service.sink.records.last?.facts.contains(Fact(.attester, .text("self"))) == true)
    }

    @Test("one DPoP proof does for both")
    func combined() async throws {
        let dpop: JSON = .array([.string(try bench.dpop())])
        let reply = try await verify(
            body(
                attestation(), ["clientAttestationPop": nil, "dpop": dpop, "clientId": .string(OAuthService.clientID)])
        ).get()
        #expect(reply["mode"] == "attest_jwt_client_auth_dpop")
        #expect(reply["dpopJkt"] == reply["jkt"])
    }

    @Test("a refusal has the client's error and the operator's reason, and a proof is good once")
    func refusals() async throws {
        let proof: JSON = .array([.string(try bench.proof())])
        let body = try await body(attestation(), ["clientAttestationPop": proof])
        _ = try await verify(body).get()
        let failure = await verify(body).failure
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.oauthError == "invalid_client_attestation")
        #expect(failure?.reason == OAuthClientReasons.proof.replayed)
        #expect(failure?.message.contains("replay") == false)
        guard case .refused(OAuthClientReasons.proof.replayed)? = service.sink.records.last?.outcome else {
            Issue.record("the refusal is not on record")
            return
        }
    }

    @Test("whose error tells a client to come back, it gets a fresh challenge with it")
    func challenges() async throws {
        let service = try OAuthService(
            """
            authorization_servers: [https://login.example.com]
            tokens: {accept_development: true}
            attester: {}
            verifier: {challenge: required, dpop_nonce: required}
            """, clock: bench.clock)
        let attestation = try await attestation(service)
        let first = await verify(try body(attestation), by: service).failure
        #expect(first?.oauthError == "use_attestation_challenge")
        #expect(first?.metadata.map(\.name) == ["oauth-client-attestation-challenge"])
        let challenge: JSON = .string(try #require(first?.metadata.first?.value))
        let proof: JSON = .array([.string(try bench.proof(["challenge": challenge]))])
        _ = try await verify(try body(attestation, ["clientAttestationPop": proof]), by: service).get()

        let asked = try await service.call("generateAttestationChallenge", ["audience": .string(OAuthService.server)])
            .get()
        #expect(asked.members?.map(\.name) == ["attestation_challenge"])
        let proofs: JSON = .array([
            .string(try bench.proof(["challenge": try #require(asked["attestation_challenge"])]))
        ])
        let dpop = { (claims: JSON) in JSON.array([.string(try bench.dpop(claims))]) }
        let nonceless = try body(attestation, ["clientAttestationPop": proofs, "dpop": dpop([:])])
        let second = await verify(nonceless, by: service).failure
        #expect(second?.oauthError == "use_dpop_nonce")
        #expect(second?.metadata.map(\.name) == ["dpop-nonce"])

        let alone = try body(attestation, ["clientAttestationPop": nil, "dpop": dpop([:])])
        let third = await verify(alone, by: service).failure
        #expect(third?.oauthError == "use_attestation_challenge")
        #expect(third?.metadata.map(\.name) == ["oauth-client-attestation-challenge", "dpop-nonce"])
        let nonce: JSON = .string(try #require(third?.metadata.last?.value))
        let answered = try body(attestation, ["clientAttestationPop": nil, "dpop": dpop(["nonce": nonce])])
        _ = try await verify(answered, by: service).get()
    }

    @Test("an attestation that ended wants a fresh one")
    func fresh() async throws {
        let attestation = try await attestation()
        service.clock.advance(by: .seconds(86_400))
        #expect(await verify(try body(attestation)).failure?.oauthError == "use_fresh_attestation")
    }

    @Test("at a resource server a DPoP proof is for an access token")
    func resourceServer() async throws {
        let hash: JSON = .string(Base64.encodeURL(SHA256.hash(Array("token".utf8))))
        let proof: JSON = .array([.string(try bench.proof(["aud": .string(OAuthService.resourceServer)]))])
        let dpop: JSON = .array([
            .string(try bench.dpop(["htm": "GET", "htu": "https://api.example.com/orders", "ath": hash]))
        ])
        let request: JSON = [
            "audience": .string(OAuthService.resourceServer), "clientAttestationPop": proof, "dpop": dpop,
            "method": "GET", "uri": "https://api.example.com/orders?page=2",
        ]
        let attestation = try await attestation()
        #expect(await verify(try body(attestation, request)).failure?.message.contains("'accessToken'") == true)
        let whole = ClientBench.merge(
            request, ["accessToken": "token", "tokenJkt": .string(bench.client.thumbprint)])
        _ = try await verify(try body(attestation, whole)).get()
    }

    @Test("attestations of another project of this service are not of this one")
    func otherProject() async throws {
        let claims: JSON = [
            "sub": .string(OAuthService.clientID), "exp": .integer(service.clock.now.seconds + 60),
            "cnf": bench.client.confirmation, "project": "projects/2",
        ]
        let failure = await verify(try body(bench.attestation(claims))).failure
        #expect(failure?.reason == OAuthClientReasons.attestationAttester)
    }

    @Test("other attesters are trusted by their published keys, each for its clients")
    func attesters() async throws {
        let keys = JWKSet([JWK(signing: bench.attesterKey.publicKey, keyID: "attester")]).json.encoded
        let service = try OAuthService(
            """
            authorization_servers: [https://login.example.com]
            verifier:
              own: false
              attesters: [{issuer: "https://attester.example.com", jwks: "env:JWKS", clients: [wallet]}]
            """, clock: bench.clock,
            secrets: SecretSource { (reference) throws(SecretError) in
                reference.description == "env:JWKS" ? keys : nil
            })
        _ = try await Self.grown(service)
        let reply = try await verify(try body(bench.attestation(["sub": "wallet"])), by: service).get()
        #expect(reply["attester"] == "https://attester.example.com")
        let other = await verify(try body(bench.attestation(["sub": "other"])), by: service).failure
        #expect(other?.reason == OAuthClientReasons.attestationClientUnknown)
    }

    @Test("only callers with the permission ask, and only of audiences that there are")
    func callers() async throws {
        let body = try await body(attestation())
        for caller in [nil, OAuthService.outsider] {
            let failure = await service.call("verifyClientAttestation", body, as: caller).failure
            #expect([.unauthenticated, .permissionDenied].contains(failure?.status))
            #expect(failure?.reason == nil)
        }
        let other = ClientBench.merge(body, ["audience": "https://other.example.com"])
        #expect(await verify(other).failure?.status == .notFound)
        let party = ClientBench.merge(body, ["audience": "https://relying-party.example.com"])
        #expect(await verify(party).failure?.reason == OAuthClientReasons.partAbsent)
        #expect(
            await service.call(
                "generateAttestationChallenge", ["audience": "https://relying-party.example.com"]
            ).failure?.reason == OAuthClientReasons.partAbsent)
    }

    @Test("a request that says not what it is about is no question", arguments: badRequests)
    func requests(changes: JSON, field: String) async throws {
        let failure = await verify(try body("x", changes)).failure
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.contains("'\(field)'") == true)
        #expect(failure?.reason == nil)
    }

    @Test("a store that fails decides nothing")
    func failing() async throws {
        let body = try await body(attestation())
        service.store.isFailing = true
        #expect(await verify(body).failure?.status == .unavailable)
    }
}

private let badRequests: [(JSON, String)] = [
    (["method": nil], "method"), (["method": .string(String(repeating: "A", count: 33))], "method"),
    (["uri": nil], "uri"), (["uri": "/token"], "uri"), (["clientAttestation": [5]], "clientAttestation"),
    (["clientAttestation": .array(Array(repeating: "a", count: 9))], "clientAttestation"),
    (["dpop": ["a": "b"]], "dpop"), (["clientId": 5], "clientId"),
]
