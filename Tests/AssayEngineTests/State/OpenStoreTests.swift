import AssayCore
@testable import AssayServices
import AssayKit
import AssayTesting
import AssayTestSupport
import Logging
import Synchronization
import Testing

@testable import AssayEngine

@Suite("The life of an open store", .timeLimit(.minutes(20)))
struct OpenStoreTests {
    /// What happened to the stores of one location.
    final class Events: Sendable {
        private let kept = Mutex<[String]>([])
        func add(_ event: String) { kept.withLock { $0.append(event) } }
        var all: [String] { kept.withLock { $0 } }
        func count(_ event: String) -> Int { all.count { $0.isExactly(event) } }
    }

    /// A store whose location says how it behaves.
    final class LivingStore: StateStorePlugin {
        static let descriptor = StorageDescriptor(
            scheme: "living", summary: "Lives.", location: "WORD", survival: .nothing, sharing: .process)
        static let events = Mutex<[String: Events]>([:])

        private let word: String
        private let clock: HostClock
        private let events: Events

        init(_ word: String, clock: HostClock) {
            self.word = word
            self.clock = clock
            events = Self.events(of: word)
        }

        static func events(of location: String) -> Events {
            events.withLock { events in
                let found = events[location] ?? Events()
                events[location] = found
                return found
            }
        }

        static func open(_ location: String, host: StorageHost) async throws(StateStoreOpeningError) -> LivingStore {
            LivingStore(location, clock: host.clock)
        }

        func run() async throws {
            events.add("run")
            guard word.starts(withExactly: "fails") else { return }
            if word.ends(withExactly: "late") { try await clock.sleep(for: .seconds(100)) }
            throw StateStoreOpeningError("it broke")
        }

        var caution: String? { word.starts(withExactly: "forgets") ? "it may forget" : nil }

        func close() async {
            events.add("close")
            if word.starts(withExactly: "hangs") {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }

        func commit(_ changes: [StateChange]) async throws -> Int? { nil }
        func get(_ key: StateKey) async throws -> [UInt8]? { nil }
        func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {}
        func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] { [] }
    }

    private let clock = ManualClock()
    private let log = RecordingLog()
    private let word = "-\(Hex.encode(Randomness.system.bytes(8)))"

    private func open(_ kind: String, tail: String = "") async throws -> (OpenStore, Events) {
        let location = kind + word + tail
        let registry = try Registry([.store(LivingStore.self)])
        let store = try await registry.openStore("living:\(location)", host: StorageHost(clock: clock.hostClock))
        return (store, LivingStore.events(of: location))
    }

    @Test("A store is closed once, whoever asks; its descriptor can be asked for")
    func closing() async throws {
        let (store, events) = try await open("good")
        #expect(store.descriptor?.scheme == "living")
        await store.close()
        await store.close()
        #expect(events.all == ["close"])
    }

    @Test("What a store may forget is told by it alone", arguments: [("good", nil), ("forgets", "it may forget")])
    func caution(_ kind: String, _ expected: String?) async throws {
        let (store, _) = try await open(kind)
        #expect(store.caution.isExactly(expected))
        #expect(OpenStore(MemoryStore(clock: .system), clock: .system).caution.isNil)
        await store.close()
    }

    @Test("A piece of work closes its store at its end, also when it throws")
    func pieceOfWork() async throws {
        struct Stop: Error {}
        let registry = try Registry([.store(LivingStore.self)])
        let events = LivingStore.events(of: "work" + word)
        let value = try await registry.withStore("living:work" + word) { store in
            #expect(events.count("close") == 0)
            return try await store.insert(StateKey("a", "b"), value: [], expires: nil)
        }
        #expect(value && events.count("close") == 1)
        await #expect(throws: Stop.self) {
            try await registry.withStore("living:work" + word) { _ in throw Stop() }
        }
        #expect(events.count("close") == 2)
    }

    @Test("A store that does not close is left after half a minute, also in a cancelled task")
    func hangingClose() async throws {
        let (store, _) = try await open("hangs")
        let closing = Task { await store.close() }
        closing.cancel()
        await clock.waitForSleepers(1)
        clock.advance(by: OpenStore.closingLimit)
        await closing.value
    }

    @Test("Work that has an end is run once, and a store that works is ready")
    func endingWork() async throws {
        let (store, events) = try await open("good")
        #expect(store.readiness == .ready)
        await store.run(clock: clock.hostClock, logger: log.logger)
        #expect(events.all == ["run"])
        #expect(store.readiness == .ready)
        #expect(log.lines.isEmpty)
    }

    @Test("Work that fails is logged, shown in the readiness, and begun again later and later")
    func failingWork() async throws {
        let (store, events) = try await open("fails")
        let running = Task { [clock, log] in await store.run(clock: clock.hostClock, logger: log.logger) }
        for round in 1...4 {
            await clock.waitForSleepers(1)
            #expect(events.count("run") == round)
            guard case .degraded(let reason) = store.readiness else {
                Issue.record("a failure is not shown")
                return
            }
            #expect(reason.contains("state store living") && reason.contains("it broke"))
            clock.advance(by: .seconds(1 << (round - 1)))
        }
        await clock.waitForSleepers(1)
        running.cancel()
        await running.value
        #expect(log.lines.count == 5)
        #expect(log.lines.first?.contains("it broke") == true)
    }

    @Test("Work that continues for longer than before, or for some seconds, is in order again")
    func recovery() async throws {
        let (store, _) = try await open("fails", tail: "late")
        let running = Task { [clock, log] in await store.run(clock: clock.hostClock, logger: log.logger) }
        await clock.waitForSleepers(1)
        #expect(store.readiness == .ready)
        clock.advance(by: .seconds(100))
        await clock.waitForSleepers(1)
        #expect(store.readiness != .ready)
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(1)
        #expect(store.readiness != .ready, "the second run has only begun")
        // However long the first run lasted: an outage that is over is over.
        clock.advance(by: .seconds(6))
        #expect(store.readiness == .ready)
        running.cancel()
        await running.value
    }

    @Test("Stores, sinks and vaults with another contract or a scheme in use are refused")
    func registration() throws {
        struct Odd: StateStorePlugin {
            static let descriptor = StorageDescriptor(
                scheme: "Odd", summary: "", survival: .nothing, sharing: .process)
            static func open(_ location: String, host: StorageHost) async throws(StateStoreOpeningError) -> Odd {
                Odd()
            }
            func commit(_ changes: [StateChange]) async throws -> Int? { nil }
            func get(_ key: StateKey) async throws -> [UInt8]? { nil }
            func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {}
            func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] { [] }
            func close() async {}
        }
        let scheme = #expect(throws: RegistryError.self) { try Registry([.store(Odd.self)]) }
        #expect(scheme?.message.contains("lower-case") == true)
        let twice = #expect(throws: RegistryError.self) {
            try Registry([.store(LivingStore.self), .store(LivingStore.self)])
        }
        #expect(twice?.message.contains("living") == true)
        let registry = try Registry([.store(LivingStore.self)])
        #expect(registry.storeDescriptors.map(\.scheme) == ["living"])
        #expect(registry.vaultDescriptors.isEmpty)
        #expect(try Registry(.keyVaults).vaultDescriptors.map(\.scheme) == ["file", "state"])
        #expect(registry.sinkDescriptors.isEmpty)
    }
}
