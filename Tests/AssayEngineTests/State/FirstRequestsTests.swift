import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Synchronization
import Testing

/// A store that counts its operations, and takes a while for each.
private final class SlowStore: StateStore {
    private let store: any StateStore
    private let counted = Atomic(0)

    init(_ clock: ManualClock) {
        store = MemoryStore(clock: clock.hostClock)
    }

    var operations: Int { counted.load(ordering: .relaxed) }

    var neverBlocks: Bool { true }

    private func wait() async throws {
        counted.add(1, ordering: .relaxed)
        try await Task.sleep(for: .milliseconds(10))
    }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        try await wait()
        return try await store.commit(changes)
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        try await wait()
        return try await store.get(key)
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await wait()
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try await wait()
        return try await store.list(space, after: name, limit: limit)
    }
}

@Suite("The first requests of a server")
struct FirstRequestsTests {
    private let clock = ManualClock()
    private let store: SlowStore
    private let engine: Engine

    init() throws {
        store = SlowStore(clock)
        let hash = Hex.encode(DebugToken.hash(of: TestService.debugToken))
        engine = try Engine(
            registry: Registry([.provider(DebugProvider.self)]),
            policies: .load([
                PolicyFile(
                    name: "test.yaml",
                    text: TestEngine.policy(providers: "debug: {tokens: [{name: local, sha256: \(hash)}]}"))
            ]),
            keys: .pooled(),
            host: PluginHost(clock: clock.hostClock, store: store, logger: TestService.silent), sink: RecordingSink())
    }

    private func exchange() async -> Bool {
        let body: JSON = ["debugToken": .string(TestService.debugToken)]
        let reply = await engine.handle(Call("exchangeDebugToken", resource: TestEngine.app, body: body))
        return if case .success = reply.result { true } else { false }
    }

    @Test("What a server must know of its state is read once, however many requests come at first")
    func together() async throws {
        let issued = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 { group.addTask { await exchange() } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(issued == 64)
        let together = store.operations

        let other = try FirstRequestsTests()
        for _ in 0..<64 {
            let isIssued = await other.exchange()
            #expect(isIssued)
        }
        #expect(together == other.store.operations, "one after the other")
    }
}
