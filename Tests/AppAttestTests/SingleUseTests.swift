import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Synchronization
import Testing

/// A store that takes down what it is asked.
private final class ListeningStore: StateStore {
    enum Question: Hashable {
        case commit([StateChange])
        case get(StateKey)
        case put(StateKey)
        case list
    }

    private let store: any StateStore
    private let heard = Mutex<[Question]>([])

    init(_ store: any StateStore) {
        self.store = store
    }

    /// What was asked since the last time.
    func takeQuestions() -> [Question] {
        heard.withLock { heard in
            defer { heard = [] }
            return heard
        }
    }

    private func hear(_ question: Question) { heard.withLock { $0.append(question) } }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        hear(.commit(changes))
        return try await store.commit(changes)
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        hear(.get(key))
        return try await store.get(key)
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        hear(.put(key))
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        hear(.list)
        return try await store.list(space, after: name, limit: limit)
    }
}

/// An assertion is made for its challenge, and its counter refuses it a second time: to remember the challenge would protect
/// nothing more.
@Suite("Evidence of App Attest is good for one token, at the price of one write")
struct SingleUseTests {
    private let clock = ManualClock()
    private let store: ListeningStore
    private let service: AppAttestService

    init() throws {
        store = ListeningStore(MemoryStore(clock: clock.hostClock))
        service = try AppAttestService(clock: clock, store: store)
    }

    private func challenge() async throws -> [UInt8] { try await service.challenge() }

    private func assertion(_ keyID: String, _ artifact: [UInt8], for challenge: [UInt8]) throws -> JSON {
        let assertion = try service.device.generateAssertion(
            keyID, clientDataHash: SHA256.hash(artifact, challenge), app: service.simulatedApp)
        return [
            "artifact": .string(Base64.encode(artifact)), "assertion": .string(Base64.encode(assertion)),
            "challenge": .string(Base64.encode(challenge)),
        ]
    }

    private func send(_ body: JSON) async -> Reply {
        await service.call("exchangeAppAttestAssertion", AppAttestService.app, body)
    }

    @Test("An exchange of an assertion asks the store once: to raise the counter, and nothing else")
    func onceForAssertions() async throws {
        let (keyID, artifact) = try await service.attested()
        for _ in 0..<3 {
            let body = try assertion(keyID, artifact, for: try await challenge())
            _ = store.takeQuestions()
            #expect(await send(body).reason == nil)
            let questions = store.takeQuestions()
            guard case .commit(let changes)? = questions.first, questions.count == 1 else {
                Issue.record("the store was asked \(questions)")
                return
            }
            guard case .advance(let key, to: 1...)? = changes.first, changes.count == 1 else {
                Issue.record("the changes are \(changes)")
                return
            }
            #expect(key.space.hasPrefix("app_attest/"))
        }
    }

    @Test("A challenge that was asked for just before the state began is good: it counts as made then")
    func newState() async throws {
        // The first request of all makes the state begin.
        _ = try await challenge()
        clock.set(clock.hostClock.now - .milliseconds(20))
        _ = try await service.attested()
        clock.advance(by: .milliseconds(5))
        let (keyID, artifact) = try await service.attested()
        #expect(await send(try assertion(keyID, artifact, for: try await challenge())).reason == nil)
    }

    @Test("An attestation has no counter: its challenge is looked up before and stored after")
    func challengeForAttestations() async throws {
        let (keyID, challenge) = (try service.device.generateKey(), try await challenge())
        _ = store.takeQuestions()
        #expect(try await service.attest(keyID, challenge: challenge).reason == nil)
        let isStored = store.takeQuestions().contains { question in
            guard case .commit(let changes) = question, case .insert(let key, _, _, false)? = changes.first else {
                return false
            }
            return key.space.isExactly("challenges")
        }
        #expect(isStored)
        let again = try await service.attest(try service.device.generateKey(), challenge: challenge)
        #expect(again.reason == "challenge_already_used")
    }

    @Test("The same assertion gives one token, however many requests bring it at once, and none for later ones")
    func replayed() async throws {
        let (keyID, artifact) = try await service.attested()
        let body = try assertion(keyID, artifact, for: try await challenge())
        let reasons = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<40 { group.addTask { await send(body).reason } }
            return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(reasons.count { $0 == nil } == 1)
        let known: Set = ["counter_not_advanced", "challenge_already_used"]
        #expect(reasons.compactMap { $0 }.allSatisfy { known.contains($0) })
        let later = await send(body).reason
        #expect(later.map(known.contains) == true)
    }

    @Test("It is refused by another server that shares the state, and has not seen the challenge")
    func replayedElsewhere() async throws {
        let (keyID, artifact) = try await service.attested()
        let body = try assertion(keyID, artifact, for: try await challenge())
        let other = try AppAttestService(
            authority: service.authority, keys: service.keys, clock: clock, store: store)
        #expect(await send(body).reason == nil)
        #expect(
            await other.call("exchangeAppAttestAssertion", AppAttestService.app, body).reason == "counter_not_advanced")
    }

    @Test("An assertion made before the last one that was accepted is refused, also with a challenge of its own")
    func outOfOrder() async throws {
        let (keyID, artifact) = try await service.attested()
        let early = try assertion(keyID, artifact, for: try await challenge())
        let late = try assertion(keyID, artifact, for: try await challenge())
        #expect(await send(late).reason == nil)
        #expect(await send(early).reason == "counter_not_advanced")
    }

    @Test("An assertion for another challenge than the one beside it is refused: it is made for its challenge alone")
    func boundToChallenge() async throws {
        let (keyID, artifact) = try await service.attested()
        let body = try assertion(keyID, artifact, for: try await challenge())
        let swapped: JSON = [
            "artifact": body["artifact"] ?? .null, "assertion": body["assertion"] ?? .null,
            "challenge": .string(Base64.encode(try await challenge())),
        ]
        #expect(await send(swapped).reason == "assertion_signature_invalid")
    }

    @Test("In a state that began later, an assertion for an older challenge is refused although no counter is known")
    func lostState() async throws {
        let (keyID, artifact) = try await service.attested()
        let body = try assertion(keyID, artifact, for: try await challenge())
        #expect(await send(body).reason == nil)
        clock.advance(by: .seconds(1))
        let empty = try AppAttestService(
            authority: service.authority, keys: service.keys, clock: clock,
            store: MemoryStore(clock: clock.hostClock))
        #expect(
            await empty.call("exchangeAppAttestAssertion", AppAttestService.app, body).reason
                == "challenge_already_used")
    }

    @Test("Without the store there is no token, and the client is told to come back")
    func storeAway() async throws {
        let failing = FailingStore(MemoryStore(clock: clock.hostClock))
        let service = try AppAttestService(clock: clock, store: failing)
        let (keyID, artifact) = try await service.attested()
        failing.isFailing = true
        let reply = try await service.assert(keyID, artifact)
        #expect(reply.status == .unavailable)
        failing.isFailing = false
        #expect(try await service.assert(keyID, artifact).reason == nil)
    }
}
