import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTestSupport
import AssayTesting
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("The threads that a state store is called on", .timeLimit(.minutes(20)))
struct PooledStoreTests {
    /// A thread of a connection.
    private final class Loop: TaskExecutor {
        static let key = DispatchSpecificKey<Bool>()
        private let queue = DispatchQueue(label: "loop")

        init() { queue.setSpecific(key: Self.key, value: true) }

        static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// A store that notes for each operation whether it was called on a thread of a connection.
    private final class NotingStore: StateStore {
        let neverBlocks: Bool
        private let store: MemoryStore
        private let noted = Mutex<[Bool]>([])

        init(clock: ManualClock, neverBlocks: Bool) {
            self.neverBlocks = neverBlocks
            store = MemoryStore(clock: clock.hostClock)
        }

        var calls: [Bool] { noted.withLock { $0 } }

        private func note() { noted.withLock { $0.append(Loop.isCurrent) } }

        func commit(_ changes: [StateChange]) async throws -> Int? {
            note()
            return try await store.commit(changes)
        }

        func get(_ key: StateKey) async throws -> [UInt8]? {
            note()
            return await store.get(key)
        }

        func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
            note()
            try await store.put(key, value: value, expires: expires)
        }

        func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
            note()
            return await store.list(space, after: name, limit: limit)
        }
    }

    @Test("One that blocks all of its callers delays nothing else")
    func blocked() async throws {
        let clock = ManualClock()
        let store = BlockingStore(clock: clock)
        let service = try AppAttestService(clock: clock, store: store)
        let keys = try await service.attested()
        // More than there are threads in the process's pool.
        let count = 2 * ProcessInfo.processInfo.processorCount + 8
        store.blocks = true
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { _ = try await service.assert(keys.keyID, keys.artifact) }
            }
            while store.brake.count < 8 { try await Task.sleep(for: .milliseconds(5)) }
            for _ in 0..<100 { await Task.detached {}.value }
            #expect(store.brake.count == 8)
            store.brake.release()
            try await group.waitForAll()
        }
    }

    /// A store that blocks the threads of its writers, when it is told to.
    private final class BlockingStore: StateStore {
        let brake = Brake()
        private let store: MemoryStore
        private let isBlocking = Atomic(false)

        init(clock: ManualClock) { store = MemoryStore(clock: clock.hostClock) }

        var blocks: Bool {
            get { isBlocking.load(ordering: .relaxed) }
            set { isBlocking.store(newValue, ordering: .relaxed) }
        }

        func commit(_ changes: [StateChange]) async throws -> Int? {
            block()
            return try await store.commit(changes)
        }

        func get(_ key: StateKey) async throws -> [UInt8]? { await store.get(key) }

        func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
            try await store.put(key, value: value, expires: expires)
        }

        func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
            await store.list(space, after: name, limit: limit)
        }

        private func block() {
            if blocks { brake.wait() }
        }
    }

    @Test("One that may block is called elsewhere than on the thread of a connection", arguments: [false, true])
    func threads(neverBlocks: Bool) async throws {
        let clock = ManualClock()
        let store = NotingStore(clock: clock, neverBlocks: neverBlocks)
        let service = try AppAttestService(clock: clock, store: store)
        // What requests share, such as the first reading of the state, is read on no connection's thread.
        _ = try await service.attested()
        let shared = store.calls.count
        let isOnLoop = try await withTaskExecutorPreference(Loop()) {
            _ = try await service.attested()
            return Loop.isCurrent
        }
        #expect(isOnLoop)
        let calls = store.calls.dropFirst(shared)
        #expect(!calls.isEmpty)
        #expect(calls.allSatisfy { $0 == neverBlocks }, "\(calls)")
    }
}
