import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Synchronization
import Testing

@Suite("Whether the state store works", .timeLimit(.minutes(20)))
struct StoreProbeTests {
    private static func engine(_ store: any StateStore, _ clock: ManualClock) throws -> Engine {
        try Engine(
            registry: Registry([]), policies: .load([PolicyFile(name: "a.yaml", text: "projects: []")]),
            keys: .pooled(), host: PluginHost(clock: clock.hostClock, store: store, logger: TestService.silent))
    }

    @Test("A store that can be read and not written is not ready, and is ready when it can be written again")
    func written() async throws {
        let clock = ManualClock()
        let store = ProbedStore(MemoryStore(clock: clock.hostClock))
        let engine = try Self.engine(store, clock)
        store.behaviour = .failing
        #expect(await engine.readiness == .notReady("the state store cannot be written: Failure()"))
        store.behaviour = .working
        clock.advance(by: .seconds(3))
        #expect(await engine.readiness == .ready)
    }

    @Test("A store that takes what is written and has it not afterwards is not ready")
    func forgetful() async throws {
        let clock = ManualClock()
        let store = ProbedStore(MemoryStore(clock: clock.hostClock))
        store.behaviour = .forgetting
        #expect(await Self.engineReadiness(store, clock) == .notReady("the state store forgets what is written"))
    }

    private static func engineReadiness(_ store: ProbedStore, _ clock: ManualClock) async -> Readiness? {
        await (try? engine(store, clock))?.readiness
    }

    @Test("However many ask, the store is written once in three seconds")
    func cached() async throws {
        let clock = ManualClock()
        let store = ProbedStore(MemoryStore(clock: clock.hostClock))
        let engine = try Self.engine(store, clock)
        for round in 1...3 {
            await withTaskGroup(of: Readiness.self) { group in
                for _ in 0..<100 { group.addTask { await engine.readiness } }
                for await readiness in group { #expect(readiness == .ready) }
            }
            clock.advance(by: .milliseconds(2999))
            #expect(await engine.readiness == .ready)
            #expect(store.writes == round)
            clock.advance(by: .milliseconds(1))
        }
    }

    @Test("A store that hangs keeps nobody: those who ask first wait two seconds, and the others not at all")
    func hanging() async throws {
        let clock = ManualClock()
        let store = ProbedStore(MemoryStore(clock: clock.hostClock))
        let engine = try Self.engine(store, clock)
        store.behaviour = .hanging
        async let first = engine.readiness
        // Until it waits for the store and for the end of its time.
        while clock.sleeperCount == 0 || store.hanging == 0 { await Task.yield() }
        clock.advance(by: .seconds(2))
        let silence = Readiness.notReady("the state store does not answer")
        #expect(await first == silence)
        for _ in 0..<10 { #expect(await engine.readiness == silence) }
        #expect(store.writes == 1)

        store.behaviour = .working
        store.release()
        while await engine.readiness != .ready { await Task.yield() }
        #expect(store.writes <= 2)
    }
}

/// A store whose writes can be made to fail, to be forgotten or to hang.
private final class ProbedStore: StateStore {
    enum Behaviour { case working, failing, forgetting, hanging }
    struct Failure: Error {}

    private struct State {
        var behaviour = Behaviour.working
        var writes = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let store: MemoryStore
    private let state = Mutex(State())

    init(_ store: MemoryStore) {
        self.store = store
    }

    var behaviour: Behaviour {
        get { state.withLock { $0.behaviour } }
        set { state.withLock { $0.behaviour = newValue } }
    }

    var writes: Int { state.withLock { $0.writes } }
    var hanging: Int { state.withLock { $0.waiting.count } }

    func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        let behaviour = state.withLock { state in
            if key.space.isExactly("readiness") { state.writes += 1 }
            return state.behaviour
        }
        switch behaviour {
        case .working: break
        case .failing: throw Failure()
        case .forgetting: return
        case .hanging:
            await withCheckedContinuation { continuation in state.withLock { $0.waiting.append(continuation) } }
        }
        try await store.put(key, value: value, expires: expires)
    }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        try await store.commit(changes)
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        await store.get(key)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        await store.list(space, after: name, limit: limit)
    }
}
