import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import AssayVerifier
import Testing

@Suite("App Attest through the kernel")
struct AppAttestProviderTests {
    @Test(
        "A device attests, asserts, and gets tokens that verify", arguments: [SimulatedSystem.iOS26, .iOS27, .macOS27])
    func wholeFlow(_ system: SimulatedSystem) async throws {
        let service = try AppAttestService()
        let device = SimulatedDevice(authority: service.authority, system: system)
        let keyID = try device.generateKey()
        let challenge = try await service.challenge()
        let attestation = try device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge), app: service.simulatedApp, at: service.clock.now)
        let reply = try await service.call(
            "exchangeAppAttestAttestation", AppAttestService.appByNumber,
            [
                "keyId": .string(keyID), "attestationStatement": .string(Base64.encodeURL(attestation)),
                "challenge": .string(Base64.encode(challenge)),
            ]
        ).result.get()
        let token = try #require(reply["appCheckToken"]?["token"]?.string)
        #expect(reply["appCheckToken"]?["ttl"] == "7200s")
        #expect(reply["attestationToken"] == nil)
        guard case .verified(let verified) = try await service.verify(token) else {
            Issue.record("the token does not verify")
            return
        }
        #expect(verified.provider == "app_attest")
        #expect(verified.subject == "1:1234567890:ios:321abc456def7890")
        #expect(verified.audience == ["projects/1234567890", "projects/example-project"])
        #expect(verified.expires - verified.issued == .seconds(7200))
    }

    @Test("A token has the claims of App Check's, in their order, and lives as the policy says")
    func claims() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested()
        // Tokens of the first minute of a state have one more.
        service.clock.advance(by: .seconds(60))
        let reply = try await service.assert(keyID, artifact).result.get()
        let token = try #require(reply["token"]?.string)
        let claims = try JSON.claims(of: token)
        #expect(claims.members?.map(\.name) == ["sub", "aud", "provider", "iss", "exp", "iat", "jti"])
        #expect(claims["iat"]?.integer == service.clock.now.seconds)
        #expect(claims["jti"]?.string.flatMap { Base64.decode($0) }?.count == 32)
        let header = try JSON.parse(try #require(Base64.decode(String(token.split(separator: ".")[0]))))
        #expect(header.members?.map(\.name) == ["kid", "typ", "alg"])
        #expect(header["kid"]?.string?.count == 6)
    }

    @Test("A limited-use token lives five minutes, whatever the policy says of others")
    func limitedUse() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested()
        let reply = try await service.assert(keyID, artifact, limitedUse: true).result.get()
        #expect(reply["ttl"] == "300s")
        let claims = try JSON.claims(of: try #require(reply["token"]?.string))
        #expect(try #require(claims["exp"]?.integer) - #require(claims["iat"]?.integer) == 300)
    }

    @Test("v1beta repeats the token under its old names")
    func oldNames() async throws {
        let service = try AppAttestService()
        let reply = try await service.attest(
            service.device.generateKey(), challenge: service.challenge(), version: .v1beta
        ).result.get()
        let token = try #require(reply["appCheckToken"]?["token"]?.string)
        #expect(reply["appCheckToken"]?["attestationToken"]?.string == token)
        #expect(reply["attestationToken"]?["attestationToken"]?.string == token)
        #expect(reply["attestationToken"]?["ttl"] == "7200s")
    }

    @Test("An OAuth client that is linked to the app gets tokens of its own")
    func oauthClient() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested(AppAttestService.client)
        let reply = try await service.assert(keyID, artifact, AppAttestService.client).result.get()
        let claims = try JSON.claims(of: try #require(reply["token"]?.string))
        #expect(claims["sub"] == "1234567890-example.apps.googleusercontent.com")
        #expect(try await service.assert(keyID, artifact).reason == "artifact_invalid")
    }

    @Test("An artifact opens after a restart, and after any number of rotations of the sealing key")
    func artifactsLiveOn() async throws {
        let keys = KeyStore.pooled()
        let service = try AppAttestService(keys: keys)
        let (keyID, artifact) = try await service.attested()
        for _ in 0..<3 { try keys.rotateSealingKey(now: service.clock.now) }
        let later = try AppAttestService(authority: service.authority, keys: keys)
        let challenge = try await later.challenge()
        let assertion = try service.device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(artifact, challenge), app: service.simulatedApp)
        let reply = await later.call(
            "exchangeAppAttestAssertion", AppAttestService.app,
            [
                "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
                "challenge": .string(Base64.encode(challenge)),
            ])
        #expect(try reply.result.get()["token"] != nil)
        let (_, fresh) = try await later.attested()
        #expect(fresh[1..<5] != artifact[1..<5], "new artifacts are sealed with the new key")
    }

    @Test("An artifact from under one root is worth nothing under another: simulated devices do not stay in")
    func otherRoot() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested()
        #expect(try await service.assert(keyID, artifact).reason == nil)
        for authority in [try SimulatedAppleCA(at: service.clock.now), nil] {
            let anchor = authority.map { ["trust_anchor": Self.inline($0.rootCertificatePEM)] } ?? [:]
            try service.engine.replacePolicies(Self.policy(anchor))
            #expect(try await service.assert(keyID, artifact).reason == "artifact_root_untrusted")
        }
        let same = ["trust_anchor": Self.inline(service.authority.rootCertificatePEM)]
        try service.engine.replacePolicies(Self.policy(same))
        #expect(try await service.assert(keyID, artifact).reason == nil)
    }

    @Test(
        "The record of refused evidence names the key that was shown: one that comes again and again is the sign of a clone"
    )
    func keyOfRefused() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested()
        let key = [Fact(AppAttestFacts.keyID, .text(keyID))]
        func facts(_ reason: String, _ reply: Reply) -> [Fact]? {
            #expect(reply.reason == reason)
            return service.sink.record(of: reply.decision)?.facts
        }
        // A clone has the artifact and a counter that the device has gone past.
        #expect(try await service.assert(keyID, artifact).reason == nil)
        var options = AssertionOptions()
        options.authenticatorData = { $0.counter = 1 }
        let clone = try await service.assert(keyID, artifact, options: options)
        #expect(facts("counter_not_advanced", clone)?.contains(key[0]) == true)
        let other = try service.device.generateKey()
        _ = try await service.attest(other, challenge: service.challenge())
        #expect(facts("assertion_signature_invalid", try await service.assert(other, artifact)) == key)
        #expect(facts("artifact_invalid", try await service.assert(keyID, Array(artifact.dropLast()))) == [])

        func attest(_ shown: String) async throws -> Reply {
            await service.call(
                "exchangeAppAttestAttestation", AppAttestService.app,
                [
                    "keyId": .string(shown), "attestationStatement": "AAAA",
                    "challenge": .string(Base64.encode(try await service.challenge())),
                ])
        }
        let refused = try await attest(keyID)
        #expect(refused.reason != nil)
        #expect(service.sink.record(of: refused.decision)?.facts == key)
        for malformed in [
            "", "AAAA", Base64.encode([UInt8](repeating: 7, count: 33)), String(repeating: "A", count: 4000),
        ] {
            let refused = try await attest(malformed)
            #expect(service.sink.record(of: refused.decision)?.facts == [], "\(malformed.prefix(60))")
        }
    }

    @Test("An artifact of an environment that the policy allows no more gets no token")
    func narrowedEnvironments() async throws {
        let service = try AppAttestService(appAttest: "environments: [production, development]")
        let keyID = try service.device.generateKey()
        let challenge = try await service.challenge()
        let attestation = try service.device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge),
            app: SimulatedApp(appID: service.simulatedApp.appID, environment: .development), at: service.clock.now)
        let reply = try await service.call(
            "exchangeAppAttestAttestation", AppAttestService.app,
            [
                "keyId": .string(keyID), "attestationStatement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)),
            ]
        ).result.get()
        let artifact = try #require(reply["artifact"]?.string.flatMap { Base64.decode($0) })
        #expect(try await service.assert(keyID, artifact).reason == nil)
        for (environments, reason) in [
            ("[production]", "environment_not_allowed"), ("[development]", nil),
        ] as [(String, String?)] {
            let anchor = Self.inline(service.authority.rootCertificatePEM)
            try service.engine.replacePolicies(
                Self.policy(["trust_anchor": anchor, "environments": environments]))
            #expect(try await service.assert(keyID, artifact).reason == reason, "\(environments)")
        }
    }

    private static func inline(_ pem: String) -> String {
        "\"\(pem.replacing("\n", with: "\\n"))\""
    }

    /// The policy of the one app, with such a section of App Attest.
    private static func policy(_ section: [String: String]) throws -> PolicySet {
        let text = """
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers: {app_attest: {\(section.map { "\($0.key): \($0.value)" }.joined(separator: ", "))}}
            """
        return try .load([PolicyFile(name: "test.yaml", text: text)])
    }

    @Test("Changing any byte of an artifact makes it refused")
    func alteredArtifacts() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested()
        for index in artifact.indices {
            var altered = artifact
            altered[index] ^= 0x10
            #expect(try await service.assert(keyID, altered).reason == "artifact_invalid", "byte \(index)")
        }
        #expect(try await service.assert(keyID, Array(artifact.dropLast())).reason == "artifact_invalid")
        #expect(try await service.assert(keyID, artifact + [0]).reason == "artifact_invalid")
    }

    @Test("A counter is accepted once, and only upwards")
    func counters() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested()
        func assert(counter: UInt32) async throws -> String? {
            var options = AssertionOptions()
            options.authenticatorData = { $0.counter = counter }
            return try await service.assert(keyID, artifact, options: options).reason
        }
        #expect(try await assert(counter: 0) == "counter_not_advanced")
        #expect(try await assert(counter: 7) == nil)
        #expect(try await assert(counter: 7) == "counter_not_advanced")
        #expect(try await assert(counter: 6) == "counter_not_advanced")
        #expect(try await assert(counter: 1 << 31) == nil)
        #expect(try await assert(counter: .max) == nil)
        #expect(try await assert(counter: .max) == "counter_not_advanced")
    }

    @Test("A key has one counter, whether it speaks for the app or for an OAuth client that is linked to it")
    func sharedCounter() async throws {
        let service = try AppAttestService()
        let keyID = try service.device.generateKey()
        var artifacts: [String: [UInt8]] = [:]
        for resource in [AppAttestService.app, AppAttestService.client] {
            let reply = try await service.attest(keyID, challenge: service.challenge(resource), resource).result.get()
            artifacts[resource] = try #require(reply["artifact"]?.string.flatMap { Base64.decode($0) })
        }
        for (resource, counter, reason) in [
            (AppAttestService.client, 5, nil), (AppAttestService.app, 5, "counter_not_advanced"),
            (AppAttestService.app, 6, nil),
            (AppAttestService.client, 6, "counter_not_advanced"), (AppAttestService.client, 7, nil),
        ] as [(String, UInt32, String?)] {
            var options = AssertionOptions()
            options.authenticatorData = { $0.counter = counter }
            let reply = try await service.assert(keyID, #require(artifacts[resource]), resource, options: options)
            #expect(reply.reason == reason, "\(resource) \(counter)")
        }
    }

    @Test("A counter that a version before this one kept for an OAuth client alone is not reset")
    func formerCounter() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested(AppAttestService.client)
        let name = try #require(Base64.decode(keyID).map { "counter/\(Hex.encode($0))" })
        #expect(try await service.store.advance(StateKey("app_attest/\(AppAttestService.client)", name), to: 9))
        for (counter, reason) in [(8, "counter_not_advanced"), (9, "counter_not_advanced"), (10, nil)] {
            var options = AssertionOptions()
            options.authenticatorData = { $0.counter = UInt32(counter) }
            let reply = try await service.assert(keyID, artifact, AppAttestService.client, options: options)
            #expect(reply.reason == reason, "\(counter)")
        }
        #expect(try await !service.store.advance(StateKey("app_attest/\(AppAttestService.appByNumber)", name), to: 10))
    }

    @Test("Of 50 requests at once with one counter, exactly one gets a token")
    func racingCounters() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested()
        let tokens = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    var options = AssertionOptions()
                    options.authenticatorData = { $0.counter = 1 }
                    return try await service.assert(keyID, artifact, options: options).reason == nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(tokens == 1)
    }

    @Test("Of 50 requests at once for one key, those accepted have counters that only grow")
    func growingCounters() async throws {
        let service = try AppAttestService()
        let (keyID, artifact) = try await service.attested()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { _ = try await service.assert(keyID, artifact) }
            }
            try await group.waitForAll()
        }
        // The highest counter, 50, was accepted whatever came before it; so nothing up to it is any more.
        var options = AssertionOptions()
        options.authenticatorData = { $0.counter = 50 }
        #expect(try await service.assert(keyID, artifact, options: options).reason == "counter_not_advanced")
        options.authenticatorData = { $0.counter = 51 }
        #expect(try await service.assert(keyID, artifact, options: options).reason == nil)
    }

    @Test("A policy may restrict environments and categories, and the device's words count")
    func rules() async throws {
        func service(_ rules: String) throws -> AppAttestService {
            try AppAttestService(appAttest: rules)
        }
        let production = try service("")
        let developer = SimulatedApp(appID: "ABCDE12345.com.example.app", environment: .development)
        let keyID = try production.device.generateKey()
        let challenge = try await production.challenge()
        let attestation = try production.device.attestKey(
            keyID, clientDataHash: SHA256.hash(challenge), app: developer, at: production.clock.now)
        let reply = await production.call(
            "exchangeAppAttestAttestation", AppAttestService.app,
            [
                "keyId": .string(keyID), "attestationStatement": .string(Base64.encode(attestation)),
                "challenge": .string(Base64.encode(challenge)),
            ])
        #expect(reply.reason == "environment_not_allowed")

        let testFlight = try service("validation_categories: [test_flight]")
        #expect(
            try await testFlight.attest(testFlight.device.generateKey(), challenge: testFlight.challenge()).reason
                == "validation_category_not_allowed")
        let store = try service("validation_categories: [app_store]")
        #expect(try await store.attest(store.device.generateKey(), challenge: store.challenge()).reason == nil)
        let strict = try service(
            "validation_categories: [app_store]\n            unreported_validation_category: refused")
        let older = SimulatedDevice(authority: strict.authority, system: .iOS26)
        let olderKey = try older.generateKey()
        let olderChallenge = try await strict.challenge()
        let olderAttestation = try older.attestKey(
            olderKey, clientDataHash: SHA256.hash(olderChallenge), app: strict.simulatedApp, at: strict.clock.now)
        let refused = await strict.call(
            "exchangeAppAttestAttestation", AppAttestService.app,
            [
                "keyId": .string(olderKey), "attestationStatement": .string(Base64.encode(olderAttestation)),
                "challenge": .string(Base64.encode(olderChallenge)),
            ])
        #expect(refused.reason == "validation_category_unreported")
    }
}
