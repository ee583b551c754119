import AssayCore
import AssayEngine
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

@Suite("Challenges and artifacts, while providers take their time", .timeLimit(.minutes(20)))
struct HeldProviderTests {
    private let gathering: Gathering
    private let service: TestService

    init() throws {
        let gathering = Gathering()
        self.gathering = gathering
        service = try Self.service(gathering)
    }

    private static func service(_ gathering: Gathering) throws -> TestService {
        try TestService(
            plugins: [.provider(HeldProvider.self)], providers: "          held: {}", http: GatheringHTTP(gathering))
    }

    private func challenge(_ service: TestService? = nil) async throws -> [UInt8] {
        let reply = try await (service ?? self.service).call("generateHeldChallenge").result.get()
        return try #require(reply["challenge"]?.string.flatMap { Base64.decode($0) })
    }

    private func exchange(
        _ challenge: [UInt8], artifact: [UInt8]? = nil, isBad: Bool = false, _ service: TestService? = nil
    ) async -> Reply {
        await (service ?? self.service).call(
            "exchangeHeldEvidence", TestService.app,
            [
                "challenge": .string(Base64.encode(challenge)), "isBad": .bool(isBad),
                "artifact": artifact.map { .string(Base64.encode($0)) } ?? .null,
            ])
    }

    @Test("Of fifty requests with one challenge that are all appraised before any is done, one gets a token")
    func together() async throws {
        let gathering = Gathering(of: 50)
        let service = try Self.service(gathering)
        let challenge = try await challenge(service)
        let reasons = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<50 { group.addTask { await exchange(challenge, service).reason } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(gathering.arrivals == 50)
        #expect(reasons.count { $0 == nil } == 1)
        #expect(reasons.count { $0 == "challenge_already_used" } == 49)
    }

    @Test("A challenge that was used is not appraised again, whatever came of its first use", arguments: [false, true])
    func used(isBad: Bool) async throws {
        let challenge = try await challenge()
        #expect(await exchange(challenge, isBad: isBad).reason == (isBad ? "held_bad" : nil))
        #expect(gathering.arrivals == 1)
        #expect(await exchange(challenge).reason == "challenge_already_used")
        #expect(gathering.arrivals == 1)
    }

    @Test("A challenge that another provider of the app asked for is refused, and not appraised")
    func otherChallenge() async throws {
        #expect(await exchange(try await service.challenge()).reason == "challenge_for_another_app")
        #expect(gathering.arrivals == 0)
        let mine = try await challenge()
        let keyID = try service.device.generateKey()
        #expect(try await service.attest(keyID, challenge: mine).reason == "challenge_for_another_app")
    }

    @Test("An artifact that another provider of the app sealed does not open")
    func otherArtifact() async throws {
        let (_, foreign) = try await service.attested()
        #expect(await exchange(try await challenge(), artifact: foreign).reason == "held_artifact_invalid")
        let reply = try await exchange(try await challenge()).result.get()
        let own = try #require(reply["artifact"]?.string.flatMap { Base64.decode($0) })
        #expect(await exchange(try await challenge(), artifact: own).reason == nil)
    }
}
