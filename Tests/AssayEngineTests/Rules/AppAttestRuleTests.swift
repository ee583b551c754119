import AssayAppAttest
import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@Suite("Rules over what App Attest finds, with simulated devices")
struct AppAttestRuleTests {
    private static let rules = """
                rules:
                  - {name: old-key, when: {key_age: {above: 1h}}, then: refuse}
                  - {name: fresh-key, when: {key_age: {at_most: 60s}}, then: mark, claim: true}
                  - {name: not-production, when: {environment: {not: production}}, then: refuse}
                  - {name: first-time, when: {key_age: {known: false}, provider: app_attest}, then: mark}
                  - {name: attested, when: {provider: app_attest}, then: refuse, enforcement: shadow}
        """

    private func service() throws -> TestService {
        try TestService(providers: Self.rules)
    }

    private func rule(_ reply: Reply, _ service: TestService) throws -> String? {
        try #require(service.sink.record(of: reply.decision)).rules.decided?.string
    }

    @Test("A key is judged by its age each time, and an attestation has none")
    func ages() async throws {
        let service = try service()
        let keyID = try service.device.generateKey()
        let attested = try await service.attest(keyID, challenge: service.challenge())
        let artifact = try #require(
            try attested.result.get()["artifact"]?.string.flatMap { Base64.decode($0) })
        #expect(try rule(attested, service) == "first-time")

        service.clock.advance(by: .seconds(60))
        let fresh = try await service.assert(keyID, artifact)
        #expect(fresh.reason == nil)
        #expect(try rule(fresh, service) == "fresh-key")

        service.clock.advance(by: .seconds(600))
        let usual = try await service.assert(keyID, artifact)
        #expect(usual.reason == nil)
        #expect(try rule(usual, service) == nil)
        let record = try #require(service.sink.record(of: usual.decision))
        #expect(record.rules.wouldRefuse.map(\.string) == ["attested"])

        service.clock.advance(by: .seconds(3600))
        let old = try await service.assert(keyID, artifact)
        #expect(old.reason == "rule_refused")
        #expect(old.status == .permissionDenied)
        #expect(try rule(old, service) == "old-key")
        #expect(try #require(service.sink.record(of: old.decision)).facts.contains { $0.name == AppAttestFacts.keyAge })
    }

    @Test("The rules of an app are those of the OAuth clients that are linked to it")
    func clients() async throws {
        let service = try service()
        let (keyID, artifact) = try await service.attested(TestService.client)
        service.clock.advance(by: .seconds(3661))
        #expect(try await service.assert(keyID, artifact, TestService.client).reason == "rule_refused")
        // Another app has no rules.
        let (otherKey, otherArtifact) = try await service.attested(TestService.otherApp)
        service.clock.advance(by: .seconds(3661))
        #expect(try await service.assert(otherKey, otherArtifact, TestService.otherApp).reason == nil)
    }

    @Test("The challenge of evidence that a rule refused is used up, and bad evidence never comes to a rule")
    func challenges() async throws {
        let service = try TestService(
            providers: "        rules:\n          - {name: nobody, when: {provider: app_attest}, then: refuse}")
        let keyID = try service.device.generateKey()
        let challenge = try await service.challenge()
        #expect(try await service.attest(keyID, challenge: challenge).reason == "rule_refused")
        #expect(try await service.attest(keyID, challenge: challenge).reason == "challenge_already_used")
        var options = AttestationOptions()
        options.nonce = { $0[0] ^= 1 }
        let forged = try await service.attest(
            service.device.generateKey(), challenge: service.challenge(), options: options)
        #expect(forged.reason != nil)
        #expect(forged.reason != "rule_refused")
        #expect(try rule(forged, service) == nil)
    }
}
