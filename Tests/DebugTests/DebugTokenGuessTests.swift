import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Synchronization
import Testing

@Suite("Guesses of registered debug tokens")
struct DebugTokenGuessTests {
    private static let registered = 500
    private static let listed = "{name: f, sha256: \(DebugServer.debugHash)}"
    private static let managed = "{debug: {managed: {limit: 500}, tokens: [\(listed)]}}"

    private let clock: ManualClock
    private let store: CountingStore
    private let keys = KeyStore.pooled()
    private let service: DebugServer

    init() throws {
        let clock = ManualClock()
        self.clock = clock
        store = CountingStore(MemoryStore(clock: clock.hostClock))
        service = try DebugServer(providers: Self.managed, keys: keys, store: store, clock: clock)
    }

    private func exchange(_ text: String, peer: String? = "192.0.2.1", _ engine: Engine? = nil) async -> Reply {
        await (engine ?? service.engine).handle(
            Call("exchangeDebugToken", resource: DebugServer.app, body: ["debugToken": .string(text)], peer: peer))
    }

    private func register(_ number: Int) async throws -> String {
        let token: JSON = ["displayName": "a", "token": .string(DebugTokenService.uuid(number))]
        let made = try await service.call("createDebugToken", DebugServer.app, ["debugToken": token]).result.get()
        return String(try #require(made["name"]?.string?.split(separator: "/").last))
    }

    @Test("A guess is one look at one entry, and reads nothing of the document, with 500 tokens registered")
    func cost() async throws {
        for number in 0..<Self.registered { _ = try await register(number) }
        #expect(await exchange(DebugTokenService.uuid(900_000)).reason == "debug_token_unknown")
        for number in 0..<50 {
            store.reset()
            let reply = await exchange(DebugTokenService.uuid(1000 + number), peer: "10.0.0.\(number)")
            #expect(reply.reason == "debug_token_unknown")
            #expect(store.counts == ["get": 1])
            #expect(store.bytesRead == 0)
        }
        #expect(await exchange(DebugTokenService.uuid(499)).status == nil)
        // What is no UUID is not even looked up.
        store.reset()
        #expect(await exchange("guess").reason == "debug_token_unknown")
        #expect(store.counts.isEmpty)
    }

    @Test("What an earlier version registered is accepted, and is found by its hash from then on")
    func earlierVersion() async throws {
        let id = try await register(1)
        _ = try await register(2)
        // An earlier version wrote no entries of hashes.
        let space = "debug/projects/1234567890/apps/\(DebugServer.appID)/hashes"
        for entry in try await store.list(space, after: nil, limit: 100) {
            try await store.put(StateKey(space, entry.name), value: nil, expires: nil)
        }
        let later = try DebugServer(
            providers: Self.managed, keys: keys, store: store, clock: clock)
        let both = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask { await exchange(DebugTokenService.uuid(1 + number % 2), later.engine).status == nil }
            }
            return await group.allSatisfy { $0 }
        }
        #expect(both)
        #expect(try await store.list(space, after: nil, limit: 100).count == 2)
        let deletion: JSON = ["debugTokenId": .string(id)]
        #expect(await later.call("deleteDebugToken", DebugServer.app, deletion).status == nil)
        #expect(await exchange(DebugTokenService.uuid(1), later.engine).reason == "debug_token_unknown")
        #expect(await exchange(DebugTokenService.uuid(2), later.engine).status == nil)
        #expect(try await store.list(space, after: nil, limit: 100).count == 1)
    }

    @Test("An entry that was lost, or left over, is put right within a minute; one left over has nothing accepted")
    func repaired() async throws {
        _ = try await register(1)
        #expect(await exchange(DebugTokenService.uuid(2)).reason == "debug_token_unknown")
        let space = "debug/projects/1234567890/apps/\(DebugServer.appID)/hashes"
        let (lost, left) = (DebugTokenService.uuid(1), DebugTokenService.uuid(3))
        let name = { (text: String) in Hex.encode(DebugToken.hash(of: text)) }
        try await store.put(StateKey(space, name(lost)), value: nil, expires: nil)
        try await store.put(StateKey(space, name(left)), value: [1], expires: nil)
        #expect(await exchange(left).reason == "debug_token_unknown")
        clock.advance(by: .seconds(60))
        #expect(await exchange(lost).status == nil)
        #expect(try await store.list(space, after: nil, limit: 100).map(\.name) == [name(lost)])
    }

    @Test("An address that guesses is told to wait; tokens that are known, and other addresses, are not")
    func limited() async throws {
        _ = try await register(1)
        #expect(await exchange(DebugTokenService.uuid(1), peer: "198.51.100.7").status == nil)
        var looked = 0
        for number in 0..<100 {
            let reply = await exchange(DebugTokenService.uuid(1000 + number), peer: "2001:db8::\(number)")
            if reply.reason == "debug_token_unknown" { looked += 1 }
        }
        #expect(looked == 10)
        store.reset()
        let reply = await exchange(DebugTokenService.uuid(5000), peer: "2001:db8::abcd")
        #expect(reply.status == .resourceExhausted)
        #expect(reply.reason == "debug_tokens_unknown_too_many")
        #expect(store.counts.isEmpty)
        guard case .failure(let failure) = reply.result else { return }
        #expect(failure.retryAfter == .seconds(10))
        // Genuine tokens behind the same address, registered ones and those of the policy.
        #expect(await exchange(DebugTokenService.uuid(1), peer: "2001:db8::1").status == nil)
        #expect(await exchange(DebugServer.debugToken, peer: "2001:db8::1").status == nil)
        clock.advance(by: .seconds(10))
        #expect(await exchange(DebugTokenService.uuid(5000), peer: "2001:db8::1").reason == "debug_token_unknown")
    }

    @Test("Many addresses that guess have one guess each when they are too many; one that did not guess is let in")
    func many() async throws {
        var looked = 0
        for round in 0..<3 {
            for number in 0..<200 {
                let text = DebugTokenService.uuid(1000 + round * 200 + number)
                let reply = await exchange(text, peer: "10.0.0.\(number)")
                if reply.reason == "debug_token_unknown" { looked += 1 }
            }
        }
        #expect(looked == 200)
        _ = try await register(1)
        #expect(await exchange(DebugTokenService.uuid(1), peer: "192.0.2.99").status == nil)
    }
}

/// Counts what is asked of a store.
private final class CountingStore: StateStore {
    private let store: any StateStore
    private let counted = Mutex<(counts: [String: Int], bytes: Int)>(([:], 0))

    init(_ store: any StateStore) {
        self.store = store
    }

    var counts: [String: Int] { counted.withLock { $0.counts } }
    var bytesRead: Int { counted.withLock { $0.bytes } }

    func reset() { counted.withLock { $0 = ([:], 0) } }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        for change in changes {
            if case .insert = change { count("insert") } else { count("advance") }
        }
        return try await store.commit(changes)
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        let value = try await store.get(key)
        count("get", value?.count ?? 0)
        return value
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        count("put")
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        let entries = try await store.list(space, after: name, limit: limit)
        count("list", entries.reduce(0) { $0 + $1.value.count })
        return entries
    }

    private func count(_ name: String, _ bytes: Int = 0) {
        counted.withLock { counted in
            counted.counts[name, default: 0] += 1
            counted.bytes += bytes
        }
    }
}
