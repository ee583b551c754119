import AssayCore
import AssayEngine
@testable import AssayServices
import AssayKit
import AssayTesting
import Testing

@Suite("Challenges")
struct ChallengeTests {
    @Test("A challenge is 69 bytes of standard, padded Base 64, and good for 300s")
    func shape() async throws {
        let service = try TestService()
        let reply = try await service.call("generateAppAttestChallenge").result.get()
        #expect(reply["ttl"] == "300s")
        let text = try #require(reply["challenge"]?.string)
        #expect(text.utf8.count == 92)
        #expect(Base64.decode(text)?.count == 69)
    }

    @Test("No two challenges are the same")
    func unique() async throws {
        let service = try TestService()
        var seen: Set<[UInt8]> = []
        for _ in 0..<200 { #expect(seen.insert(try await service.challenge()).inserted) }
    }

    @Test("A challenge is good once, also when the first use failed")
    func once() async throws {
        let service = try TestService()
        let challenge = try await service.challenge()
        var options = AttestationOptions()
        options.nonce = { $0[0] ^= 1 }
        let keyID = try service.device.generateKey()
        #expect(try await service.attest(keyID, challenge: challenge, options: options).reason == "nonce_mismatch")
        #expect(try await service.attest(keyID, challenge: challenge).reason == "challenge_already_used")
    }

    @Test("Rubbish leaves nothing in the state store, however much of it comes")
    func rubbish() async throws {
        let service = try TestService()
        for _ in 0..<20 {
            let challenge = try await service.challenge()
            let reply = await service.call(
                "exchangeAppAttestAttestation", TestService.app,
                [
                    "keyId": "AAAA", "attestationStatement": "AAAA", "challenge": .string(Base64.encode(challenge)),
                ])
            #expect(reply.status == .permissionDenied)
        }
        #expect(try await service.store.list("challenges", after: nil, limit: 100).isEmpty)
        _ = try await service.attested()
        #expect(try await service.store.list("challenges", after: nil, limit: 100).count == 1)
    }

    @Test("Of 50 requests at once with one challenge, exactly one is appraised")
    func race() async throws {
        let service = try TestService()
        let challenge = try await service.challenge()
        let keyID = try service.device.generateKey()
        let reasons = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<50 {
                group.addTask { try await service.attest(keyID, challenge: challenge).reason }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reasons.count { $0 == nil } == 1)
        #expect(reasons.count { $0 == "challenge_already_used" } == 49)
    }

    @Test("A challenge is good for five minutes")
    func lifetime() async throws {
        let service = try TestService()
        let early = try await service.challenge()
        let late = try await service.challenge()
        service.clock.advance(by: .seconds(300) - .milliseconds(1))
        #expect(try await service.attest(service.device.generateKey(), challenge: early).reason == nil)
        service.clock.advance(by: .milliseconds(1))
        #expect(try await service.attest(service.device.generateKey(), challenge: late).reason == "challenge_expired")
    }

    @Test("A clock that is set back makes no used challenge good again")
    func clockSetBack() async throws {
        let service = try TestService()
        let challenge = try await service.challenge()
        #expect(try await service.attest(service.device.generateKey(), challenge: challenge).reason == nil)
        service.clock.advance(by: .seconds(3500))
        _ = try await service.attested()
        service.clock.advance(by: .seconds(-3400))
        #expect(
            try await service.attest(service.device.generateKey(), challenge: challenge).reason
                == "challenge_already_used")
    }

    @Test("A challenge from the future is refused, but for the minute that clocks may differ")
    func future() async throws {
        let service = try TestService()
        let challenge = try await service.challenge()
        service.clock.advance(by: .seconds(-61))
        let keyID = try service.device.generateKey()
        #expect(try await service.attest(keyID, challenge: challenge).reason == "challenge_not_yet_valid")
        service.clock.advance(by: .seconds(1))
        #expect(try await service.attest(keyID, challenge: challenge).reason == nil)
    }

    @Test(
        "A challenge is bound to its resource",
        arguments: [
            (TestService.client, TestService.app), (TestService.otherApp, TestService.app),
            (TestService.app, TestService.client),
        ])
    func binding(_ from: String, _ to: String) async throws {
        let service = try TestService()
        let challenge = try await service.challenge(from)
        let reply = try await service.attest(service.device.generateKey(), challenge: challenge, to)
        #expect(reply.reason == "challenge_for_another_app")
        #expect(reply.status == .permissionDenied)
    }

    @Test("The project's number and its ID name one resource")
    func bothNames() async throws {
        let service = try TestService()
        let challenge = try await service.challenge(TestService.appByNumber)
        #expect(try await service.attest(service.device.generateKey(), challenge: challenge).reason == nil)
    }

    @Test("Changing any byte of a challenge makes it refused, and so does any other length")
    func altered() async throws {
        let service = try TestService()
        let keyID = try service.device.generateKey()
        let challenge = try await service.challenge()
        for index in challenge.indices {
            var altered = challenge
            altered[index] ^= 0x01
            let reason = try await service.attest(keyID, challenge: altered).reason
            let expected =
                switch index {
                case 0: "challenge_malformed"
                case 5..<13: "challenge_for_another_app"
                default: "challenge_forged"
                }
            #expect(reason == expected, "byte \(index)")
        }
        for other in [Array(challenge.dropLast()), challenge + [0], [7], [UInt8](repeating: 0, count: 69)] {
            #expect(try await service.attest(keyID, challenge: other).reason == "challenge_malformed")
        }
    }

    @Test("A challenge survives a restart and a rotation of the sealing key")
    func restart() async throws {
        let keys = KeyStore.pooled()
        let before = try TestService(keys: keys)
        let challenge = try await before.challenge()
        try keys.rotateSealingKey(now: before.clock.now)
        let after = try TestService(keys: keys)
        #expect(try await after.attest(after.device.generateKey(), challenge: challenge).reason == nil)
    }
}
