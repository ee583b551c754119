import AssayCore
import AssayCrypto
import AssayDebug
import AssayKit
import AssayPolicy
import AssayTesting
import AssayTestSupport
import Logging
import Synchronization
import Testing

@testable import AssayEngine
@testable import AssayServices

/// Services that share a state, or keys, as one that is started again does.
private struct Restarts {
    let clock = ManualClock()
    let store: MemoryStore

    init() {
        store = MemoryStore(clock: clock.hostClock)
    }

    static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    static let token = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"
    static let verifier = "a-secret-of-the-backend-0123456789"

    func start(
        _ keys: KeyStore, store: (any StateStore)? = nil, clock: HostClock? = nil, meter: Meter = .none,
        logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    ) throws -> Engine {
        let text = """
            callers:
              backend: {sha256: \(Hex.encode(SHA256.hash(Array(Self.verifier.utf8)))), permissions: [appCheckTokens.verify]}
            projects:
              - number: 1234567890
                id: example-project
                verification: {accept_development: true}
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    providers:
                      debug: {tokens: [{name: local, sha256: \(Hex.encode(DebugToken.hash(of: Self.token)))}]}
            """
        return try Engine(
            registry: Registry([.provider(DebugProvider.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: keys,
            host: PluginHost(
                clock: clock ?? self.clock.hostClock, store: store ?? self.store,
                logger: logger, meter: meter),
            sink: RecordingSink())
    }

    func exchange(_ engine: Engine, limitedUse: Bool = true) async throws -> Reply {
        await engine.handle(
            Call(
                "exchangeDebugToken", resource: Self.app,
                body: ["debugToken": .string(Self.token), "limitedUse": .bool(limitedUse)]))
    }

    func issue(_ engine: Engine, limitedUse: Bool = true) async throws -> String {
        try #require(try await exchange(engine, limitedUse: limitedUse).result.get()["token"]?.string)
    }

    /// Whether the token was used before, by what `verifyAppCheckToken` says.
    func consume(_ engine: Engine, _ token: String) async throws -> Bool {
        let reply = await engine.handle(
            Call(
                "verifyAppCheckToken", resource: "projects/example-project",
                body: ["appCheckToken": .string(token)], credentials: BearerToken(Self.verifier)))
        return try reply.result.get()["alreadyConsumed"]?.bool ?? false
    }
}

@Suite("What the state remembers of its service")
struct StateHistoryTests {
    private let restarts = Restarts()

    @Test("With the same keys it continues; without them it decides nothing, and says which are missing")
    func lostKeys() async throws {
        let keys = KeyStore.ephemeral()
        let first = try restarts.start(keys)
        _ = try await restarts.issue(first)
        #expect(await first.readiness == .ready)
        let again = try restarts.start(keys)
        _ = try await restarts.issue(again)

        let lost = try keys.list(now: restarts.clock.now).map(\.id)
        let other = try restarts.start(.ephemeral())
        guard case .notReady(let reason) = await other.readiness else {
            Issue.record("it is ready without the keys")
            return
        }
        for id in lost { #expect(reason.contains("--forget-key \(id)")) }
        #expect(try await restarts.exchange(other).status == .unavailable)
    }

    @Test("A new state is nothing to warn of, unless its keys are older")
    func newStateOfOlderKeys() async throws {
        let (keys, log) = (KeyStore.ephemeral(), RecordingLog())
        let first = try restarts.start(keys, logger: log.logger)
        _ = try await restarts.issue(first)
        #expect(log.lines.contains { $0.hasPrefix("a new state begins: ") })
        let note = try #require(first.newState)
        #expect(note.hasPrefix("the state is new: this server began it at "))
        #expect(note.contains("This is normal for a first start"))
        #expect(await first.readiness == .ready, "it is a note, and no warning")
        let again = try restarts.start(keys)
        _ = try await restarts.issue(again)
        #expect(again.newState == nil, "the state was there")

        restarts.clock.advance(by: .seconds(3600))
        let empty = MemoryStore(clock: restarts.clock.hostClock)
        let lost = try restarts.start(keys, store: empty, logger: log.logger)
        _ = try await restarts.issue(lost)
        #expect(log.lines.contains { $0.hasPrefix("a new state begins with keys that are older: ") })
        #expect(lost.newState?.contains("The signing keys are older than the state") == true)
    }

    @Test("The check before the start throws for keys that are gone, makes none, and can be told to forget them")
    func check() async throws {
        let keys = KeyStore.ephemeral()
        _ = try await restarts.issue(restarts.start(keys))
        let now = restarts.clock.now
        try await UsedKeys.check(keys, in: restarts.store, now: now)
        let new = KeyStore.ephemeral()
        await #expect(throws: KeyError.self) { try await UsedKeys.check(new, in: restarts.store, now: now) }
        #expect(new.changeMark == nil, "a check makes no keys")
        let ids = try keys.list(now: now).map(\.id)
        #expect(ids.count == 2)
        await #expect(throws: KeyError.self) {
            try await UsedKeys.check(new, in: restarts.store, forgetting: [ids[0]], now: now)
        }
        #expect(
            try await UsedKeys.check(new, in: restarts.store, forgetting: ids + ["unknown"], now: now) == ["unknown"])
        await #expect(throws: KeyError.self, "a check forgets nothing") {
            try await UsedKeys.check(new, in: restarts.store, now: now)
        }
        await #expect(throws: KeyError.self, "a key that is there is not lost") {
            try await UsedKeys.check(keys, in: restarts.store, forgetting: [ids[0]], now: now)
        }
        try await UsedKeys.forget(ids, in: restarts.store)
        _ = try await restarts.issue(restarts.start(new))
        // What was forgotten is not missed later, and what is used now is.
        await #expect(throws: KeyError.self) { try await UsedKeys.check(keys, in: restarts.store, now: now) }
    }

    @Test("A key that was added since a backup is missed as well, as soon as it was used")
    func olderKeys() async throws {
        let keys = KeyStore.ephemeral()
        let engine = try restarts.start(keys)
        _ = try await restarts.issue(engine)
        try keys.rotateSealingKey(now: restarts.clock.now)
        #expect(try engine.reloadKeys())
        _ = try await restarts.issue(engine)
        let remembered = await restarts.store.list("keys", after: nil, limit: 100).map(\.name)
        #expect(remembered.count { $0.hasPrefix("sealing/") } == 2)
        #expect(remembered.count { $0.hasPrefix("signing/") } == 1)
    }

    @Test("A state that began while the clock was ahead begins anew once it is right, also under a running engine")
    func beganInTheFuture() async throws {
        let keys = KeyStore.ephemeral()
        let right = restarts.clock.now
        restarts.clock.set(right + .seconds(30 * 86_400))
        let running = try restarts.start(keys)
        let early = try await restarts.issue(running)
        for engine in [running, try restarts.start(keys)] {
            restarts.clock.set(right)
            let fresh = try await restarts.issue(engine)
            #expect(try await !restarts.consume(engine, fresh), "it was issued after the state began")
            #expect(try await restarts.consume(engine, fresh))
        }
        // By the time at which it was issued it is not yet good, and later no more than any other.
        restarts.clock.set(right + .seconds(30 * 86_400))
        #expect(try await !restarts.consume(running, early))
        #expect(try await restarts.consume(running, early))
    }

    @Test("Another secret under the identifier of a lost key is not that key")
    func digest() async throws {
        let keys = KeyStore.ephemeral()
        _ = try await restarts.issue(restarts.start(keys))
        let entry = try #require(try await restarts.store.list("keys", after: "sealing/", limit: 1).first)
        let value = try JSON.parse(entry.value)
        let changed: JSON = [
            "created": value["created"] ?? .null, "digest": .string(Base64.encode([UInt8](repeating: 0, count: 32))),
        ]
        try await restarts.store.put(StateKey("keys", entry.name), value: changed.encoded, expires: nil)
        await #expect(throws: KeyError.self) {
            try await UsedKeys.check(keys, in: restarts.store, now: restarts.clock.now)
        }
    }

    @Test("A signing key that was retired long ago is not missed, however long no server ran")
    func prunedKey() async throws {
        let keys = KeyStore.ephemeral()
        _ = try await restarts.issue(restarts.start(keys))
        let old = try #require(try keys.list(now: restarts.clock.now).first { $0.purpose == .signing }).id
        restarts.clock.advance(by: .seconds(60))
        let new = try keys.prepareSigningKey(lead: .zero, now: restarts.clock.now)
        _ = try keys.activate(new.id, beforeItsTime: true, now: restarts.clock.now)
        restarts.clock.advance(by: .seconds(9 * 86_400))
        _ = try keys.prepareSigningKey(now: restarts.clock.now)
        #expect(try !keys.list(now: restarts.clock.now).contains { $0.id == old })
        try await UsedKeys.check(keys, in: restarts.store, now: restarts.clock.now)
    }

    @Test("A signing key that is lost is missed until its publication has ended, though a newer one signs")
    func lostSigningKey() async throws {
        let keys = KeyStore.ephemeral()
        _ = try await restarts.issue(restarts.start(keys))
        let old = try #require(try keys.list(now: restarts.clock.now).first { $0.purpose == .signing }).id
        restarts.clock.advance(by: .seconds(60))
        let new = try keys.prepareSigningKey(lead: .zero, now: restarts.clock.now)
        _ = try keys.activate(new.id, now: restarts.clock.now)
        _ = try keys.update { (ring) throws(KeyError) in
            ring.signing.removeAll { $0.id == old }
            return true
        }
        let error = await #expect(throws: KeyError.self) {
            try await UsedKeys.check(keys, in: restarts.store, now: restarts.clock.now)
        }
        #expect(error?.message.contains("the signing key \(old)") == true)
        restarts.clock.advance(by: KeyRing.publication)
        try await UsedKeys.check(keys, in: restarts.store, now: restarts.clock.now)
    }

    @Test("A store that does not answer lets nothing be decided before the keys were compared")
    func silentStore() async throws {
        let failing = FailingStore(restarts.store)
        let engine = try restarts.start(.ephemeral(), store: failing)
        failing.isFailing = true
        #expect(try await restarts.exchange(engine).status == .unavailable)
        failing.isFailing = false
        _ = try await restarts.issue(engine)
        // From then on, what needs no state is decided without it.
        failing.isFailing = true
        #expect(try await restarts.exchange(engine, limitedUse: false).status == nil)
    }

    @Test("Where the database is lost, what was issued before and is good once counts as used")
    func lostState() async throws {
        let keys = KeyStore.ephemeral()
        let engine = try restarts.start(keys)
        let (used, unused) = (try await restarts.issue(engine), try await restarts.issue(engine))
        #expect(try await restarts.consume(engine, used) == false)
        #expect(try await restarts.consume(engine, used))

        restarts.clock.advance(by: .seconds(2))
        let empty = MemoryStore(clock: restarts.clock.hostClock)
        let again = try restarts.start(keys, store: empty)
        #expect(try await restarts.consume(again, used))
        #expect(try await restarts.consume(again, unused), "it is unknown whether it was used")
        let fresh = try await restarts.issue(again)
        #expect(try await restarts.consume(again, fresh) == false)
        #expect(try await restarts.consume(again, fresh))
    }

    @Test("A challenge from before a new state counts as used, also when the state began within the same second")
    func lostStateAtOnce() async throws {
        let first = try TestService()
        let challenge = try await first.challenge()
        #expect(try await first.attest(first.device.generateKey(), challenge: challenge).status == nil)
        let second = try TestService(authority: first.authority, keys: first.keys)
        second.clock.advance(by: .milliseconds(5))
        let keyID = try second.device.generateKey()
        let again = try await second.attest(keyID, challenge: challenge)
        #expect(again.reason == "challenge_already_used")
        #expect(try await second.attest(keyID, challenge: second.challenge()).status == nil)
    }

    @Test(
        "A used token stays used when the state is lost within the second of its issue, or after the clock was corrected; a new one is good",
        arguments: [0, 100, 5000, 58_000])
    func lostStateAfterAnEarlyClock(ahead: Int) async throws {
        let keys = KeyStore.ephemeral()
        for limitedUse in [true, false] {
            restarts.clock.set(Instant(seconds: restarts.clock.now.seconds + 100) + .milliseconds(200))
            let engine = try restarts.start(keys, store: MemoryStore(clock: restarts.clock.hostClock))
            restarts.clock.advance(by: .milliseconds(ahead))
            let used = try await restarts.issue(engine, limitedUse: limitedUse)
            #expect(try await restarts.consume(engine, used) == false)
            #expect(try await restarts.consume(engine, used))

            restarts.clock.advance(by: .milliseconds(5 - ahead))
            let empty = MemoryStore(clock: restarts.clock.hostClock)
            let again = try restarts.start(keys, store: empty)
            _ = try await restarts.issue(again)
            restarts.clock.advance(by: .milliseconds(ahead))
            #expect(try await restarts.consume(again, used))
            // The clock of another server of the same state may be behind.
            restarts.clock.advance(by: .milliseconds(-150))
            let behind = try restarts.start(keys, store: empty)
            for server in [again, behind] {
                let fresh = try await restarts.issue(server, limitedUse: limitedUse)
                #expect(try await restarts.consume(server, fresh) == false)
                #expect(try await restarts.consume(server, fresh))
            }
        }
    }

    @Test("Only tokens of the first minute of a state name it")
    func mark() async throws {
        restarts.clock.set(Instant(seconds: restarts.clock.now.seconds + 10) + .milliseconds(200))
        let engine = try restarts.start(.ephemeral())
        func claims() async throws -> JSON {
            let parts = try await restarts.issue(engine).split(separator: ".")
            return try JSON.parse(#require(Base64.decodeURL(utf8: Array(parts[1].utf8)[...])))
        }
        let mark = try await claims()["state"]?.string
        #expect(mark != nil)
        restarts.clock.advance(by: .milliseconds(59_999))
        #expect(try await claims()["state"]?.string == mark)
        restarts.clock.advance(by: .seconds(1))
        #expect(try await claims()["state"] == nil)
    }

    @Test("A copy of the state begins anew when it is served, once")
    func copy() async throws {
        let keys = KeyStore.ephemeral()
        let engine = try restarts.start(keys)
        let before = try await restarts.issue(engine)
        restarts.clock.advance(by: .seconds(2))
        try await restarts.store.put(
            StateKey("state", "copied"), value: Array("2026-11-21T12:00:00Z".utf8), expires: nil)
        #expect(try await StateDescription(of: restarts.store).copied == "2026-11-21T12:00:00Z")
        let restored = try restarts.start(keys)
        #expect(try await restarts.consume(restored, before))
        let token = try await restarts.issue(restored)
        restarts.clock.advance(by: .seconds(2))
        let again = try restarts.start(keys)
        #expect(try await restarts.consume(again, token) == false, "it is a copy no more")
        #expect(try await StateDescription(of: restarts.store).copied == nil)
    }

    @Test("A used challenge and token stay used when the clock jumps a day forward and back")
    func clockForwardAndBack() async throws {
        let service = try TestService()
        let challenge = try await service.challenge()
        #expect(try await service.attest(service.device.generateKey(), challenge: challenge).status == nil)
        let engine = try restarts.start(.ephemeral())
        let token = try await restarts.issue(engine)
        #expect(try await restarts.consume(engine, token) == false)
        for clock in [service.clock, restarts.clock] { clock.jump(by: .seconds(25 * 3600)) }
        for _ in 0..<10 {
            #expect(
                try await service.attest(service.device.generateKey(), challenge: service.challenge()).status == nil)
            #expect(try await restarts.consume(engine, restarts.issue(engine)) == false)
        }
        for clock in [service.clock, restarts.clock] {
            clock.jump(by: .seconds(-25 * 3600))
            clock.advance(by: .seconds(1))
        }
        let second = try await service.attest(service.device.generateKey(), challenge: challenge)
        #expect(second.reason == "challenge_already_used")
        #expect(try await restarts.consume(engine, token))
        let fresh = try await restarts.issue(engine)
        #expect(try await restarts.consume(engine, fresh) == false, "what is new is not held up")
    }

    @Test(
        "A jump of the clock is counted, by its direction; what a clock is set right by is not",
        arguments: [
            (86_400, "forward"), (11, "forward"), (10, nil), (0, nil), (-10, nil), (-11, "back"), (-90_000, "back"),
        ]
            as [(Int, String?)])
    func clockJump(seconds: Int, direction: String?) async throws {
        let offset = Mutex(Duration.zero)
        let start = restarts.clock.now
        let clock = HostClock(
            now: { start + offset.withLock { $0 } }, uptime: { .seconds(1000) }, sleep: { _ in })
        let counted = Mutex<[String: Double]>([:])
        let meter = Meter { _, metric, change, labels in
            guard metric.name == "clock_jumps_total", case .add(let amount) = change else { return }
            counted.withLock { $0[labels[0], default: 0] += amount }
        }
        let engine = try restarts.start(
            .ephemeral(), store: MemoryStore(clock: clock), clock: clock, meter: meter)
        _ = try await restarts.issue(engine)
        offset.withLock { $0 = .seconds(seconds) }
        for _ in 0..<3 { _ = try await restarts.exchange(engine) }
        let expected = ["forward", "back"].map { $0 == direction ? 1.0 : 0 }
        #expect(counted.withLock { found in ["forward", "back"].map { found[$0] ?? -1 } } == expected)
    }
}
